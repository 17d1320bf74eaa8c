"""Converts chat messages to requests of the Anthropic Messages API, and its messages to replies. Pure.

Source: the published API, and what the official BFCL handler sends. Contents are lists of blocks; an answer's
blocks, thinking included, are sent back as they came.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.llm.wires.native_content import native_content
from console.llm.wires.usage import token_count

API = "anthropic"
MAX_TOKENS = 64_000
"""The API wants a number; this one where nobody gives another."""
CACHE = "prompt_cache"
"""Parameter that marks tools, system text and the last two user messages for the provider's cache; never sent."""
_MARK = {"type": "ephemeral"}
Block = dict[str, Any]


def anthropic_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /v1/messages`; a setting of None is left out.

    Raises:
        Fault: `bad_request`, when arguments of an earlier call are no JSON object.
    """
    settings: dict[str, Any] = {"max_tokens": model.max_tokens or MAX_TOKENS, "temperature": model.temperature}
    settings |= model.params | request.params
    cache = bool(settings.pop(CACHE, False))
    system = [_text(message.get("content") or "") for message in request.messages if message["role"] == "system"]
    messages = _conversation([message for message in request.messages if message["role"] != "system"])
    tools = [_tool(tool["function"]) for tool in request.tools]
    if cache:
        _mark(tools[-1:] + system[:1] + _last_questions(messages))
    body: dict[str, Any] = {"model": model.model_id, "messages": messages, "system": system or None}
    body |= settings | ({"tools": tools} if tools else {})
    return {name: value for name, value in body.items() if value is not None}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _tool(function: Mapping[str, Any]) -> Block:
    return {("input_schema" if key == "parameters" else key): value for key, value in function.items()}


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages with the results of one answer in one user message, as the API wants them."""
    out: list[dict[str, Any]] = []
    collecting = False
    for message in messages:
        if message["role"] == "tool":
            result = {
                "type": "tool_result",
                "content": message.get("content") or "",
                "tool_use_id": message.get("tool_call_id", ""),
            }
            if collecting:
                out[-1]["content"].append(result)
            else:
                out.append({"role": "user", "content": [result]})
        elif message["role"] == "assistant":
            out.append({"role": "assistant", "content": _answer(message)})
        else:
            out.append({"role": message["role"], "content": [_text(message.get("content") or "")]})
        collecting = message["role"] == "tool"
    return out


def _answer(message: Message) -> str | list[Block]:
    content = native_content(message, API)
    if content is not None:
        return content if isinstance(content, str) else [dict(block) for block in content]
    text, calls = message.get("content") or "", message.get("tool_calls", ())
    return ([_text(text)] if text or not calls else []) + [
        {"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": _input(call["function"])}
        for call in calls
    ]


def _input(function: Mapping[str, Any]) -> dict[str, Any]:
    try:
        value = json.loads(function["arguments"] or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Fault(FaultKind.BAD_REQUEST, f"the arguments of an earlier call of {function['name']} are no JSON object")
    return cast(dict[str, Any], value)


def _last_questions(messages: Sequence[dict[str, Any]]) -> list[Block]:
    """Return the first block of each of the last two user messages."""
    asked = [message["content"][0] for message in messages if message["role"] == "user" and message["content"]]
    return [block for block in asked[-2:] if isinstance(block, dict)]


def _mark(blocks: Sequence[Block]) -> None:
    for block in blocks:
        block["cache_control"] = _MARK


def read_message(message: Mapping[str, Any], finish: str) -> Reply:
    """Return the reply that a finished message holds.

    Raises:
        Fault: it holds no content.
    """
    content = message.get("content")
    if not isinstance(content, list):
        raise Fault(FaultKind.BAD_ANSWER, "the message holds no content")
    blocks = [cast(Block, block) for block in cast(list[Any], content) if isinstance(block, dict)]
    calls = tuple(
        ToolCall(str(block.get("id", "")), str(block.get("name", "")), json.dumps(block.get("input", {})))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    return Reply(
        content="".join(texts) if texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(str(block.get("thinking", "")) for block in blocks if block.get("type") == "thinking"),
        finish=finish,
        usage=read_usage(message.get("usage")),
        model=str(message.get("model", "")),
        native={"api": API, "content": blocks},
    )


def read_usage(value: object) -> Usage | None:
    """Return the tokens of a message; those read from and written to the cache count as input.

    None when it does not count them, or names what cannot be true.
    """
    if not isinstance(value, dict):
        return None
    usage = cast(dict[str, Any], value)
    sent, output = token_count(usage.get("input_tokens")), token_count(usage.get("output_tokens"))
    cached = token_count(usage.get("cache_read_input_tokens") or 0)
    written = token_count(usage.get("cache_creation_input_tokens") or 0)
    if sent is None or output is None or cached is None or written is None:
        return None
    return Usage(input=sent + cached + written, output=output, cached=cached)
