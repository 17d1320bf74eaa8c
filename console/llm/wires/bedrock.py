"""Amazon Bedrock's Converse API: `POST /model/{model}/converse`, answered with one JSON body.

Source: the published API, and the requests of the official BFCL handler. The key is one of Bedrock's API keys, sent as
a bearer token; requests are not signed. The content of a reply, including its reasoning, is sent back unchanged.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.llm.transport.events import SseReader
from console.llm.wires.body_assembly import BodyAssembly
from console.llm.wires.completeness import Ends
from console.llm.wires.content_parts import MediaData, mapped, text_only
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.parts import NONE_ACCEPTED, Accepted, refuse_other_roles
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, call_arguments, native_content
from console.llm.wires.usage import Counts, tier_of, token_count
from console.llm.wires.whole_objects import whole_objects

NATIVE = "bedrock"
BEDROCK = Ends(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "guardrail_intervened": "content_filter",
        "content_filtered": "content_filter",
    }
)
_INFERENCE = {"temperature": "temperature", "max_tokens": "maxTokens", "top_p": "topP", "stop": "stopSequences"}
"""Fields of `inferenceConfig` by parameter; all others are fields of the body."""
_RESULT = "toolResult"
_NAME = "the Bedrock API"
_FORMATS = {
    **{f"image/{form}": form for form in ("png", "jpeg", "gif", "webp")},
    "application/pdf": "pdf", "text/csv": "csv", "text/html": "html", "text/plain": "txt", "text/markdown": "md",
}  # fmt: skip
"""Formats of images and documents by media type."""
Block = dict[str, Any]


def converse_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of a Converse request; settings of None are omitted.

    Raises:
        Fault: `bad_request`, if the arguments of an earlier call are not a JSON object.
    """
    settings: dict[str, Any] = {"temperature": model.temperature, "max_tokens": model.max_tokens}
    settings |= model.params | request.params
    settings = as_accepted(model, {name: value for name, value in settings.items() if value is not None})
    inference = {field: settings.pop(name) for name, field in _INFERENCE.items() if name in settings}
    system = [_text(text_only(message, _NAME)) for message in request.messages if message["role"] == "system"]
    messages = _conversation([message for message in request.messages if message["role"] != "system"])
    tools = [_tool(tool["function"]) for tool in request.tools]
    body: dict[str, Any] = {"messages": messages, "system": system, "inferenceConfig": inference} | settings
    return body | ({"toolConfig": {"tools": tools}} if tools else {})


def _tool(function: Mapping[str, Any]) -> Block:
    return {
        "toolSpec": {
            "name": function["name"],
            "description": function["description"],
            "inputSchema": {"json": function["parameters"]},
        }
    }


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages; all tool results of one step are in a single user message."""
    out: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "assistant":
            out.append({"role": "assistant", "content": _answer(message)})
        elif message["role"] == "tool":
            result = {
                _RESULT: {"toolUseId": message.get("tool_call_id", ""), "content": [_text(text_only(message, _NAME))]}
            }
            if out and _RESULT in out[-1]["content"][-1]:
                out[-1]["content"].append(result)
            else:
                out.append({"role": "user", "content": [result]})
        else:
            out.append({"role": message["role"], "content": mapped(message, _text, _media, _NAME)})
    return out


def _text(text: str) -> Block:
    return {"text": text}


def _media(part: MediaData) -> Block | None:
    form = _FORMATS.get(part.media_type)
    if form is None or part.kind == "audio":
        return None
    source = {"format": form, "source": {"bytes": part.data}}
    if part.kind == "image":
        return {"image": source}
    return {"document": source | {"name": re.sub(r"[^A-Za-z0-9 ()\[\]-]", "-", part.name)}}


def _answer(message: Message) -> list[Block]:
    content = native_content(message, NATIVE)
    if isinstance(content, list):
        return [dict(block) for block in content]
    text, calls = text_only(message, _NAME), message.get("tool_calls", ())
    return ([{"text": text}] if text or not calls else []) + [
        {
            "toolUse": {
                "toolUseId": call["id"],
                "name": call["function"]["name"],
                "input": call_arguments(call["function"]),
            }
        }
        for call in calls
    ]


def read_converse(message: Mapping[str, Any], finish: str, accepted: Accepted = NONE_ACCEPTED) -> Reply:
    """Return the reply in a complete body.

    Raises:
        Fault: the body has no content, or content that contradicts its end.
    """
    answer = as_object(as_object(message.get("output")).get("message"))
    refuse_other_roles(answer)
    if not isinstance(answer.get("content"), list):
        raise Fault(FaultKind.BAD_ANSWER, "the message has no content")
    blocks = whole_objects(answer["content"], "content")
    calls = tuple(_call(as_object(block["toolUse"])) for block in blocks if "toolUse" in block)
    if (finish == "tool_calls") is not bool(calls) and finish in ("tool_calls", "stop"):
        raise Fault(FaultKind.BAD_ANSWER, "the answer's calls contradict its stop reason")
    for block in blocks:
        if not _is_readable(block):
            if "text" in block or not block:
                raise Fault(FaultKind.BAD_ANSWER, "a block in the answer has no text")
            accepted.skip(next(iter(block)))
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    thoughts = (_thought(block) for block in blocks)
    return Reply(
        content="".join(texts) if texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(thought for thought in thoughts if isinstance(thought, str)),
        finish=finish,
        usage=_usage(message.get("usage")),
        native={"api": NATIVE, "content": blocks},
        tier=tier_of(message.get("serviceTier")),
    )


def _is_readable(block: Block) -> bool:
    return isinstance(block.get("text"), str) or not block.keys().isdisjoint(("toolUse", "reasoningContent"))


def _call(use: Mapping[str, Any]) -> ToolCall:
    identity, name, values = use.get("toolUseId"), use.get("name"), use.get("input")
    if not isinstance(identity, str) or not isinstance(name, str) or not isinstance(values, dict):
        raise Fault(FaultKind.BAD_ANSWER, "a call in the answer has no id, name or input")
    return ToolCall(identity, name, json.dumps(values))


def _thought(block: Mapping[str, Any]) -> object:
    return as_object(as_object(block.get("reasoningContent")).get("reasoningText")).get("text")


def _usage(value: object) -> Usage | None:
    """Return the token counts, or None if they are implausible; cache reads and writes count as input."""
    usage = as_object(value)
    sent, output = token_count(usage.get("inputTokens")), token_count(usage.get("outputTokens"))
    if sent is None or output is None:
        return None
    cached, written = (token_count(usage.get(name)) or 0 for name in ("cacheReadInputTokens", "cacheWriteInputTokens"))
    parts = as_objects(usage.get("cacheDetails"))
    of_hour, of_minutes = (
        sum(token_count(part.get("inputTokens")) or 0 for part in parts if part.get("ttl") == name)
        for name in ("1h", "5m")
    )
    written = max(written, of_hour + of_minutes)
    unknown = written - of_hour - of_minutes if parts else 0
    sent += cached + written
    return Counts(sent, output, cached, written, written_1h=of_hour, unpriced=unknown).usage()


def _show(body: Mapping[str, Any], live: LiveTexts) -> None:
    for block in as_objects(as_object(as_object(body.get("output")).get("message")).get("content")):
        live.show("reasoning", _thought(block))
        live.show("text", block.get("text"))


BEDROCK_API = ProviderApi(
    path="model/{model}/converse",
    body=converse_body,
    events=SseReader,
    assembly=partial(BodyAssembly, BEDROCK, "stopReason", _show, read_converse),
)
