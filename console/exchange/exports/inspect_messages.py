"""Conversations, outputs and usage in the format of Inspect logs."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, cast

from console.core.chat import Reply, ToolCall, Usage
from console.core.run import Manifest
from console.exchange.document import Item
from console.exchange.exports.media_content import Read, inspect_content
from console.insight.conversation import Conversation, Exchange
from console.insight.message import NormalizedMessage, normalized_message, normalized_reply

MODEL, JUDGE, EMBEDDING = "model", "judge", "embedding"
_ROLES = {"developer": "system", "function": "tool"}
_STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
_EXPECTED = ("ground_truth", "possible_answer", "answer", "expected", "target")
"""Keys under which suites store the expected result."""

Message = dict[str, Any]


def transcript(conversation: Conversation | None) -> list[Message]:
    """Return the conversation with the model: its last request and the reply."""
    exchanges = conversation.model_calls if conversation else []
    if not exchanges:
        return []
    last = exchanges[-1]
    assert conversation is not None  # it has exchanges
    read = conversation.read_file
    return [*(_message(normalized_message(message), read) for message in last.messages), _assistant(last.asked.reply)]


def model_name(manifest: Manifest, role: str = MODEL) -> str:
    """Return the name of the model in a role, by which its calls and its usage are listed."""
    facts = manifest.model if role == MODEL else manifest.roles.get(role, manifest.model)
    return facts.model_id or facts.name


def model_events(conversation: Conversation | None, manifest: Manifest) -> list[dict[str, Any]]:
    """Return every call as a model event; calls of a judge have Inspect's grader role."""
    if conversation is None:
        return []
    return [_event(exchange, manifest, conversation.read_file) for exchange in conversation.exchanges]


def inspect_role(role: str) -> str:
    """Return Inspect's name of a role other than the model's."""
    return "grader" if role == JUDGE else role


def _event(exchange: Exchange, manifest: Manifest, read: Read) -> dict[str, Any]:
    asked = exchange.asked
    model = model_name(manifest, asked.role)
    event: dict[str, Any] = {
        "event": "model",
        "timestamp": datetime.fromtimestamp(asked.at, UTC).isoformat(),
        "working_start": 0.0,
        "model": asked.reply.model or model,
        "input": [_message(normalized_message(message), read) for message in exchange.messages],
        "tools": [_tool(tool) for tool in exchange.tools],
        "tool_choice": "auto",
        "config": {},
        "output": _output(asked.reply, model),
    }
    return event if asked.role == MODEL else event | {"role": inspect_role(asked.role)}


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


def model_output(item: Item, manifest: Manifest) -> dict[str, Any]:
    """Return the model's last answer."""
    model = model_name(manifest)
    replies = [exchange.asked.reply for exchange in item.conversation.model_calls] if item.conversation else []
    return _output(replies[-1], model) if replies else {"model": model, "choices": [], "completion": ""}


def _output(reply: Reply, model: str) -> dict[str, Any]:
    out: dict[str, Any] = {
        "model": reply.model or model,
        "choices": [{"message": _assistant(reply), "stop_reason": _STOPS.get(reply.finish, "unknown")}],
        "completion": reply.content or "",
        "time": reply.latency_s,
    }
    if reply.usage is not None:
        out["usage"] = _inspect_usage(reply.usage)
    return out


def model_usage(manifest: Manifest, items: Iterable[Item]) -> dict[str, Any]:
    """Return the token usage of rollouts by model."""
    used: dict[str, Usage] = {model_name(manifest): Usage()}
    for role, usage in _usage_by_role(manifest, items).items():
        name = model_name(manifest, role)
        used[name] = _sum(used.get(name, Usage()), usage)
    return {name: _inspect_usage(usage) for name, usage in used.items()}


def role_usage(manifest: Manifest, items: Iterable[Item]) -> dict[str, Any]:
    """Return the token usage of rollouts by role; as in Inspect, the model itself has none."""
    used = _usage_by_role(manifest, items)
    return {inspect_role(role): _inspect_usage(usage) for role, usage in used.items() if role != MODEL}


def _usage_by_role(manifest: Manifest, items: Iterable[Item]) -> dict[str, Usage]:
    """Return the token usage of rollouts by role.

    Usage of a rollout beyond that of its calls is for embeddings, or comes from a run whose calls did not report it.
    """
    used: dict[str, Usage] = {}
    other = EMBEDDING if EMBEDDING in manifest.roles else MODEL
    for item in items:
        left_in, left_out = item.rollout.input_tokens, item.rollout.output_tokens
        for exchange in item.conversation.exchanges if item.conversation else []:
            if (usage := exchange.asked.reply.usage) is not None:
                role = exchange.asked.role
                used[role] = _sum(used.get(role, Usage()), usage)
                left_in, left_out = left_in - usage.input, left_out - usage.output
        if left_in > 0 or left_out > 0:
            left = Usage(max(left_in, 0), max(left_out, 0))
            used[other] = _sum(used.get(other, Usage()), left)
    return used


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input + other.input, one.output + other.output, one.cached + other.cached, one.reasoning + other.reasoning
    )


def target_of(item: Item) -> str:
    """Return the expected result as text; empty if the suite stores none."""
    data = item.case.data if item.case else {}
    expected = next((data[name] for name in _EXPECTED if name in data), None)
    if expected is None and item.comparison is not None:
        expected = [pair.expected for pair in item.comparison.expectations if pair.expected] or None
    if expected is None:
        return ""
    return expected if isinstance(expected, str) else json.dumps(expected, default=str)


def _inspect_usage(usage: Usage) -> dict[str, int]:
    """Convert usage; Inspect counts cached input separately from other input."""
    cached = min(usage.cached, usage.input)
    shown = {
        "input_tokens": usage.input - cached,
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    }
    parts = {"input_tokens_cache_read": cached, "reasoning_tokens": usage.reasoning}
    return shown | {name: number for name, number in parts.items() if number}


def _assistant(reply: Reply) -> Message:
    return _message(normalized_reply(reply)) | {"source": "generate"}


def _message(shown: NormalizedMessage, read: Read | None = None) -> Message:
    role = _ROLES.get(shown.role, shown.role)
    message: Message = {"role": role if role in ("system", "user", "assistant", "tool") else "user"}
    message["content"] = inspect_content(shown, read) if read is not None else shown.text
    if shown.calls and role == "assistant":
        message["tool_calls"] = [_call(call) for call in shown.calls]
    if role == "tool" and shown.name:
        message["function"] = shown.name
    return message


def _call(call: ToolCall) -> dict[str, Any]:
    """Convert a call; like Inspect, keep arguments that are not an object as text with the parser's error."""
    arguments: dict[str, Any] = {}
    error_text = ""
    try:
        value: Any = json.loads(call.arguments or "{}")
        if isinstance(value, dict):
            arguments = cast("dict[str, Any]", value)
        else:
            error_text = "not an object"
    except (ValueError, RecursionError) as error:
        error_text = str(error)
    out: dict[str, Any] = {"id": call.id, "function": call.name, "arguments": arguments, "type": "function"}
    return out | ({"parse_error": f"{error_text}: {call.arguments}"} if error_text else {})
