"""Messages and tools in OpenTelemetry's GenAI conventions: JSON strings of roles and parts for attributes."""

import json
from collections.abc import Sequence
from typing import Any, cast

from console.core.chat import Reply, ToolCall
from console.insight.message import NormalizedMessage, normalized_message
from console.store.journal_line import scrub

Json = dict[str, Any]

_FINISH = {"tool_calls": "tool_call"}


def input_messages(messages: Sequence[Json]) -> str:
    """Return `gen_ai.input.messages` of a request."""
    return _text([_message(normalized_message(message)) for message in messages])


def output_messages(reply: Reply) -> str:
    """Return `gen_ai.output.messages` of a reply, which is one choice."""
    parts: list[Json] = [{"type": "reasoning", "content": reply.reasoning}] if reply.reasoning else []
    parts += _parts(reply.content or "", reply.tool_calls)
    return _text([{"role": "assistant", "parts": parts, "finish_reason": _FINISH.get(reply.finish, reply.finish)}])


def tool_definitions(tools: Sequence[Json]) -> str:
    """Return `gen_ai.tool.definitions`: type and name, all that the convention recommends."""
    return _text([{"type": str(tool.get("type") or "function"), "name": _tool_name(tool)} for tool in tools])


def _message(message: NormalizedMessage) -> Json:
    if message.role == "tool":
        parts: list[Json] = [{"type": "tool_call_response", "id": message.answers, "response": message.text}]
    else:
        parts = _parts(message.text, message.calls)
    return {"role": message.role or "user", "parts": parts} | ({"name": message.name} if message.name else {})


def _parts(text: str, calls: Sequence[ToolCall]) -> list[Json]:
    parts: list[Json] = [{"type": "text", "content": text}] if text or not calls else []
    return parts + [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": _arguments(call.arguments)}
        for call in calls
    ]


def _arguments(text: str) -> Any:
    """Return the arguments as an object, or the string itself if it is not strict JSON."""
    try:
        value = scrub(json.loads(text))
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return cast(Json, value) if isinstance(value, dict) else text


def _tool_name(tool: Json) -> str:
    function: Any = tool.get("function")
    described = cast(Json, function) if isinstance(function, dict) else tool
    return str(described.get("name") or "")


def _text(value: Any) -> str:
    return json.dumps(scrub(value), allow_nan=False, ensure_ascii=False)
