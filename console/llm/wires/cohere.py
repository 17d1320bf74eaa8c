"""Cohere's Chat API, version 2: `POST /v2/chat`, answered with one JSON body.

Source: the published API, and the requests of the official BFCL handler. The plan, the calls and the content of a reply
are sent back unchanged.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.llm.transport.events import SseReader
from console.llm.wires.body_assembly import BodyAssembly
from console.llm.wires.completeness import Ends
from console.llm.wires.content_parts import MediaData, mapped, text_only
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.parts import NONE_ACCEPTED, Accepted, name_in, refuse_other_roles
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, native_content
from console.llm.wires.usage import token_count
from console.llm.wires.whole_objects import whole_objects

NATIVE = "cohere"
_NAME = "the Cohere API"
COHERE = Ends(
    {
        "complete": "stop",
        "stop_sequence": "stop",
        "tool_call": "tool_calls",
        "max_tokens": "length",
        "error_toxic": "content_filter",
    },
    {"error": FaultKind.SERVER, "timeout": FaultKind.SERVER},
)
_SENT_BACK = ("tool_calls", "tool_plan", "content", "citations")
"""Fields of an answer that are sent back to the API; those without a value are omitted."""


def cohere_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /v2/chat`; settings of None are omitted."""
    settings: dict[str, Any] = {"temperature": model.temperature, "max_tokens": model.max_tokens}
    settings |= model.params | request.params | {"stream": False}
    body: dict[str, Any] = {"model": model.model_id, "messages": [_message(message) for message in request.messages]}
    body |= settings | ({"tools": request.tools} if request.tools else {})
    return as_accepted(model, {name: value for name, value in body.items() if value is not None})


def _message(message: Message) -> dict[str, Any]:
    if message["role"] == "assistant":
        native = native_content(message, NATIVE)
        if isinstance(native, list) and native:
            return {"role": "assistant", **as_object(native[0])}
        calls = message.get("tool_calls")
        content = message.get("content")
        return {
            "role": "assistant",
            **({"content": content} if content else {}),
            **({"tool_calls": calls} if calls else {}),
        }
    if message["role"] == "tool":
        text = {"type": "text", "text": text_only(message, _NAME)}
        return {"role": "tool", "tool_call_id": message.get("tool_call_id", ""), "content": [text]}
    if isinstance(message.get("content"), list):
        return {"role": message["role"], "content": mapped(message, _text, _media, _NAME)}
    return {"role": message["role"], "content": message.get("content") or ""}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _media(part: MediaData) -> dict[str, Any] | None:
    if part.kind != "image":
        return None
    url = part.data if part.is_link else f"data:{part.media_type};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def read_cohere(message: Mapping[str, Any], finish: str, accepted: Accepted = NONE_ACCEPTED) -> Reply:
    """Return the reply in a complete body.

    Raises:
        Fault: the body has no message, or a message that contradicts its end.
    """
    if not isinstance(message.get("message"), dict):
        raise Fault(FaultKind.BAD_ANSWER, "the answer has no message")
    fields = as_object(message["message"])
    refuse_other_roles(fields)
    contents = whole_objects(fields.get("content"), "content")
    parts = [read for part in contents if (read := _part(part, accepted))]
    called = whole_objects(fields.get("tool_calls"), "tool_calls")
    calls = tuple(_call(call) for call in called)
    if (finish == "tool_calls") is not bool(calls) and finish in ("tool_calls", "stop"):
        raise Fault(FaultKind.BAD_ANSWER, "the answer's calls contradict its finish reason")
    texts = [part["text"] for part in parts if part["type"] == "text"]
    carried = {**fields, "content": parts, "tool_calls": called}
    return Reply(
        content="\n".join(texts) if texts else None,
        tool_calls=calls,
        reasoning="\n".join(part["thinking"] for part in parts if part["type"] == "thinking"),
        finish=finish,
        usage=_usage(message.get("usage")),
        native={"api": NATIVE, "content": [{name: carried[name] for name in _SENT_BACK if carried.get(name)}]},
    )


def _part(part: Mapping[str, Any], accepted: Accepted) -> dict[str, str]:
    """Return a part of the content with its two fields; empty if it has no content."""
    kind = name_in(part, "type")
    if kind not in ("text", "thinking"):
        accepted.skip(kind)
        return {}
    if not isinstance(part.get(kind), str):
        raise Fault(FaultKind.BAD_ANSWER, f"a part of the answer has no {kind}")
    return {"type": kind, kind: part[kind]}


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = as_object(call.get("function"))
    texts = (call.get("id"), function.get("name"), function.get("arguments"))
    if not all(isinstance(text, str) for text in texts):
        raise Fault(FaultKind.BAD_ANSWER, "a call in the answer has no id, name or arguments")
    return ToolCall(*cast(tuple[str, str, str], texts))


def _usage(value: object) -> Usage | None:
    usage = as_object(value)
    counts = as_object(usage.get("tokens")) or as_object(usage.get("billed_units"))
    sent, written = token_count(counts.get("input_tokens")), token_count(counts.get("output_tokens"))
    cached = token_count(usage.get("cached_tokens")) or 0
    return None if sent is None or written is None else Usage(sent, written, min(cached, sent))


def _show(body: Mapping[str, Any], live: LiveTexts) -> None:
    for part in as_objects(as_object(body.get("message")).get("content")):
        live.show("text", part.get("text"))


COHERE_API = ProviderApi(
    path="chat",
    body=cohere_body,
    events=SseReader,
    assembly=partial(BodyAssembly, COHERE, "finish_reason", _show, read_cohere),
)
