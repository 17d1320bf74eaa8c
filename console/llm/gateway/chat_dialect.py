"""Chat completions, spoken by most clients: messages, tools and settings are passed on unchanged."""

import json
import time
from collections.abc import Iterator
from typing import Any, cast

from console.core.chat import Message, Reply
from console.llm.gateway.dialect import CannotConvert, Dialect, GatewayCall, take

_OF_TRANSPORT = ("stream_options", "user", "metadata", "store", "service_tier", "prompt_cache_key", "safety_identifier")
"""Settings that do not affect the answer; some change with every run."""
_UNANSWERED = ("audio", "prediction", "functions", "function_call")
"""Settings that request parts that our replies lack."""


def _read(body: dict[str, Any]) -> GatewayCall:
    model, streams = take(body, "model", str, ""), take(body, "stream", bool, False)
    messages, tools = take(body, "messages", list, []), take(body, "tools", list, [])
    for name in _OF_TRANSPORT:
        body.pop(name, None)
    params = {name: value for name, value in body.items() if value is not None}
    if params.get("n") == 1:
        del params["n"]
    if asked := [name for name in _UNANSWERED if params.get(name)]:
        raise CannotConvert(f"`{asked[0]}` cannot be passed on")
    return GatewayCall(cast("list[Message]", messages), tools, params, streams, model)


def _usage(reply: Reply) -> dict[str, Any] | None:
    if (usage := reply.usage) is None:
        return None
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [call.for_message() for call in reply.tool_calls]
    return message


def _head(reply: Reply, call: GatewayCall, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-0", "object": kind, "created": int(time.time()), "model": reply.model or call.model}


def _whole(reply: Reply, call: GatewayCall) -> dict[str, Any]:
    choice = {"index": 0, "message": _message(reply), "finish_reason": reply.finish, "logprobs": None}
    whole = _head(reply, call, "chat.completion") | {"choices": [choice]}
    usage = _usage(reply)
    return whole | {"usage": usage} if usage else whole


def _events(reply: Reply, call: GatewayCall) -> Iterator[str]:
    head = _head(reply, call, "chat.completion.chunk")
    delta = _message(reply)
    for number, made in enumerate(delta.get("tool_calls", ())):
        made["index"] = number
    for part, finish in ((delta, None), ({}, reply.finish)):
        yield _event(head | {"choices": [{"index": 0, "delta": part, "finish_reason": finish}]})
    if usage := _usage(reply):
        yield _event(head | {"choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _refusal(kind: str, words: str) -> dict[str, Any]:
    code = "context_length_exceeded" if kind == "context" else kind
    return {"error": {"message": words, "type": "invalid_request_error", "code": code, "param": None}}


CHAT = Dialect(_read, _whole, _events, _refusal)
