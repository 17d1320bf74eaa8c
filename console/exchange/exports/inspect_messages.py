"""Conversations, outputs and usage in the format of Inspect logs."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, cast

from console.core.chat import Reply, ToolCall
from console.exchange.document import Item
from console.insight.conversation import Conversation, Exchange
from console.insight.message import NormalizedMessage, normalized_message, normalized_reply

_ROLES = {"developer": "system", "function": "tool"}
_STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
_EXPECTED = ("ground_truth", "possible_answer", "answer", "expected", "target")
"""Keys under which suites store the expected result."""

Message = dict[str, Any]


def transcript(conversation: Conversation | None) -> list[Message]:
    """Return the conversation with the model: its last request and the reply."""
    exchanges = (
        [exchange for exchange in conversation.exchanges if exchange.asked.role == "model"] if conversation else []
    )
    if not exchanges:
        return []
    last = exchanges[-1]
    return [*(_message(normalized_message(message)) for message in last.messages), _assistant(last.asked.reply)]


def model_events(conversation: Conversation | None, model: str) -> list[dict[str, Any]]:
    """Return every call as a model event; calls of a judge have Inspect's grader role."""
    return [_event(exchange, model) for exchange in (conversation.exchanges if conversation else [])]


def _event(exchange: Exchange, model: str) -> dict[str, Any]:
    asked = exchange.asked
    event: dict[str, Any] = {
        "event": "model",
        "timestamp": datetime.fromtimestamp(asked.at, UTC).isoformat(),
        "working_start": 0.0,
        "model": asked.reply.model or model,
        "input": [_message(normalized_message(message)) for message in exchange.messages],
        "tools": [_tool(tool) for tool in exchange.tools],
        "tool_choice": "auto",
        "config": {},
        "output": _output(asked.reply, model),
    }
    return event if asked.role == "model" else event | {"role": "grader"}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Convert a tool to Inspect's description, dropping schema parts that it lacks."""
    function: Any = tool.get("function")
    described = cast("dict[str, Any]", function) if isinstance(function, dict) else tool
    parameters: Any = described.get("parameters")
    schema = cast("dict[str, Any]", parameters) if isinstance(parameters, dict) else {}
    properties: Any = schema.get("properties")
    named = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    shown = {
        name: {"description": str(cast("dict[str, Any]", about).get("description") or "")}
        for name, about in named.items()
        if isinstance(about, dict)
    }
    required: Any = schema.get("required")
    return {
        "name": str(described.get("name") or ""),
        "description": str(described.get("description") or ""),
        "parameters": {
            "type": "object",
            "properties": shown,
            "required": [str(name) for name in cast("list[Any]", required)] if isinstance(required, list) else [],
        },
    }


def model_output(item: Item, model: str) -> dict[str, Any]:
    """Return the model's last answer."""
    exchanges = item.conversation.exchanges if item.conversation else []
    replies = [exchange.asked.reply for exchange in exchanges if exchange.asked.role == "model"]
    return _output(replies[-1], model) if replies else {"model": model, "choices": [], "completion": ""}


def _output(reply: Reply, model: str) -> dict[str, Any]:
    out: dict[str, Any] = {
        "model": reply.model or model,
        "choices": [{"message": _assistant(reply), "stop_reason": _STOPS.get(reply.finish, "unknown")}],
        "completion": reply.content or "",
        "time": reply.latency_s,
    }
    if reply.usage is not None:
        out["usage"] = _usage(reply.usage.input, reply.usage.output)
    return out


def model_usage(model: str, items: Iterable[Item]) -> dict[str, Any]:
    """Return the token usage of rollouts under the model's name."""
    listed = list(items)
    used = _usage(sum(item.rollout.input_tokens for item in listed), sum(item.rollout.output_tokens for item in listed))
    return {model: used}


def target_of(item: Item) -> str:
    """Return the expected result as text; empty if the suite stores none."""
    data = item.case.data if item.case else {}
    expected = next((data[name] for name in _EXPECTED if name in data), None)
    if expected is None and item.comparison is not None:
        expected = [pair.expected for pair in item.comparison.pairs if pair.expected] or None
    if expected is None:
        return ""
    return expected if isinstance(expected, str) else json.dumps(expected, default=str)


def _usage(sent: int, got: int) -> dict[str, int]:
    return {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got}


def _assistant(reply: Reply) -> Message:
    return _message(normalized_reply(reply)) | {"source": "generate"}


def _message(shown: NormalizedMessage) -> Message:
    role = _ROLES.get(shown.role, shown.role)
    message: Message = {"role": role if role in ("system", "user", "assistant", "tool") else "user"}
    message["content"] = shown.text
    if shown.calls and role == "assistant":
        message["tool_calls"] = [_call(call) for call in shown.calls]
    if role == "tool" and shown.name:
        message["function"] = shown.name
    return message


def _call(call: ToolCall) -> dict[str, Any]:
    """Convert a call; like Inspect, keep arguments that are not an object as text with the parser's error."""
    arguments: dict[str, Any] = {}
    complaint = ""
    try:
        value: Any = json.loads(call.arguments or "{}")
        if isinstance(value, dict):
            arguments = cast("dict[str, Any]", value)
        else:
            complaint = "not an object"
    except (ValueError, RecursionError) as error:
        complaint = str(error)
    out: dict[str, Any] = {"id": call.id, "function": call.name, "arguments": arguments, "type": "function"}
    return out | ({"parse_error": f"{complaint}: {call.arguments}"} if complaint else {})
