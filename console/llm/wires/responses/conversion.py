"""Converts chat messages to requests of the OpenAI Responses API, and its responses to replies. Pure.

Source: the published API, and what the official BFCL handler sends. Nothing is stored at the provider
(`store: false`), so reasoning travels encrypted and every output item is sent back as it came.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.llm.wires.native_content import native_content
from console.llm.wires.usage import token_count

API = "responses"


def responses_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of `POST /responses`; a setting of None is left out."""
    body: dict[str, Any] = {
        "model": model.model_id,
        "input": [item for message in request.messages for item in _items(message)],
        "store": False,
        "temperature": model.temperature,
        "max_output_tokens": model.max_tokens,
    }
    if request.tools:
        body["tools"] = [{**tool["function"], "type": "function"} for tool in request.tools]
    body |= model.params | request.params
    return {name: value for name, value in body.items() if value is not None}


def _items(message: Message) -> Iterator[Any]:
    role, content = message["role"], message.get("content")
    items = native_content(message, API)
    if isinstance(items, list):
        yield from items
    elif role == "tool":
        yield {"type": "function_call_output", "call_id": message.get("tool_call_id", ""), "output": content or ""}
    else:
        if content is not None or not message.get("tool_calls"):
            yield {"role": "developer" if role == "system" else role, "content": content or ""}
        for call in message.get("tool_calls", ()):
            yield {"type": "function_call", "call_id": call["id"], **call["function"]}


def read_response(response: Mapping[str, Any], finish: str) -> Reply:
    """Return the reply that a finished response holds.

    Raises:
        Fault: it holds no output.
    """
    output = response.get("output")
    if not isinstance(output, list):
        raise Fault(FaultKind.BAD_ANSWER, "the response holds no output")
    items = [cast(dict[str, Any], item) for item in cast(list[Any], output) if isinstance(item, dict)]
    texts = [part["text"] for part in _parts(items, "message", "content") if part.get("type") == "output_text"]
    calls = tuple(
        ToolCall(str(item.get("call_id", "")), str(item.get("name", "")), str(item.get("arguments", "")))
        for item in items
        if item.get("type") == "function_call"
    )
    return Reply(
        content="".join(texts) if texts or not calls else None,
        tool_calls=calls,
        reasoning="".join(f"{part.get('text', '')}\n" for part in _parts(items, "reasoning", "summary")),
        finish="tool_calls" if calls and finish == "stop" else finish,
        usage=read_usage(response.get("usage")),
        model=str(response.get("model", "")),
        native={"api": API, "content": items},
    )


def _parts(items: list[dict[str, Any]], kind: str, key: str) -> Iterator[dict[str, Any]]:
    for item in items:
        parts = item.get(key)
        if item.get("type") == kind and isinstance(parts, list):
            yield from (cast(dict[str, Any], part) for part in cast(list[Any], parts) if isinstance(part, dict))


def read_usage(value: object) -> Usage | None:
    """Return the tokens of a response; None when it counts none, or what cannot be true."""
    if not isinstance(value, dict):
        return None
    usage = cast(dict[str, Any], value)
    sent, written = token_count(usage.get("input_tokens")), token_count(usage.get("output_tokens"))
    if sent is None or written is None:
        return None
    cached = _detail(usage.get("input_tokens_details"), "cached_tokens")
    return Usage(sent, written, min(cached, sent), _detail(usage.get("output_tokens_details"), "reasoning_tokens"))


def _detail(value: object, key: str) -> int:
    return token_count(cast(dict[str, Any], value).get(key)) or 0 if isinstance(value, dict) else 0
