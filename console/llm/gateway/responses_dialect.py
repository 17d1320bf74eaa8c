"""OpenAI's Responses API: a conversation of items, each a message, a call or its result."""

import time
from collections.abc import Iterator
from typing import Any, cast

from console.core.chat import Message, Reply
from console.llm.gateway.dialect import CannotConvert, Dialect, GatewayCall, as_event, take

_OF_TRANSPORT = ("store", "include", "metadata", "user", "prompt_cache_key", "safety_identifier", "service_tier",
                 "truncation", "stream_options", "client_metadata", "prompt_cache_retention")  # fmt: skip
_UNANSWERED = ("previous_response_id", "conversation", "background", "prompt", "top_logprobs")


def _read(body: dict[str, Any]) -> GatewayCall:
    model, streams = take(body, "model", str, ""), take(body, "stream", bool, False)
    messages: list[dict[str, Any]] = []
    if instructions := take(body, "instructions", str, ""):
        messages.append({"role": "system", "content": instructions})
    items = take(body, "input", (str, list), [])
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        _add_item(messages, item)
    tools = [_tool(tool) for tool in take(body, "tools", list, [])]
    if asked := [name for name in _UNANSWERED if body.get(name)]:
        raise CannotConvert(f"`{asked[0]}` cannot be passed on: send the whole conversation")
    for name in (*_OF_TRANSPORT, *_UNANSWERED):
        body.pop(name, None)
    return GatewayCall(cast("list[Message]", messages), tools, _params(body), streams, model)


def _params(body: dict[str, Any]) -> dict[str, Any]:
    params = {name: value for name, value in body.items() if value is not None}
    if (most := params.pop("max_output_tokens", None)) is not None:
        params["max_tokens"] = most
    reasoning = params.pop("reasoning", None)
    if reasoning and reasoning.get("effort"):
        params["reasoning_effort"] = reasoning["effort"]
    text: dict[str, Any] = params.pop("text", None) or {}
    form: dict[str, Any] = dict(text.get("format") or {})
    if (kind := form.pop("type", "text")) != "text":
        params["response_format"] = {"type": kind, "json_schema": form} if form else {"type": kind}
    if isinstance(choice := params.get("tool_choice"), dict):
        name = cast("dict[str, Any]", choice).get("name")
        if not name:
            raise CannotConvert("`tool_choice` names no function")
        params["tool_choice"] = {"type": "function", "function": {"name": name}}
    return params


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    if tool.get("type") != "function":
        raise CannotConvert(f"the tool `{tool.get('type')}` is run by OpenAI's own servers")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def _add_item(messages: list[dict[str, Any]], item: dict[str, Any]) -> None:
    """Add an item to the conversation; calls join the preceding assistant message."""
    match item.get("type", "message"):
        case "message":
            role = "system" if item["role"] == "developer" else item["role"]
            messages.append({"role": role, "content": _content(item.get("content") or "")})
        case "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            calls = messages[-1].setdefault("tool_calls", [])
            calls.append({"id": item["call_id"], "type": "function", "function": function})
        case "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": _content(item["output"])})
        case "reasoning":
            pass  # only the provider's server can read it
        case kind:
            raise CannotConvert(f"an item of the type `{kind}`")


def _content(content: Any) -> Any:
    """Return text, or parts if some are not text."""
    if isinstance(content, str):
        return content
    parts: list[dict[str, Any]] = []
    for part in content:
        match part.get("type"):
            case "input_text" | "output_text" | "text":
                parts.append({"type": "text", "text": part["text"]})
            case "refusal":
                parts.append({"type": "text", "text": part["refusal"]})
            case "input_image":
                parts.append({"type": "image_url", "image_url": {"url": part.get("image_url")}})
            case kind:
                raise CannotConvert(f"a part of the type `{kind}`")
    is_text = all(part["type"] == "text" for part in parts)
    return "".join(part["text"] for part in parts) if is_text else parts


def _items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.content:
        text: dict[str, Any] = {"type": "output_text", "text": reply.content, "annotations": [], "logprobs": []}
        items.append({"id": "msg_0", "type": "message", "role": "assistant", "status": "completed", "content": [text]})
    for number, call in enumerate(reply.tool_calls):
        fields = {"call_id": call.id, "name": call.name, "arguments": call.arguments, "status": "completed"}
        items.append({"id": f"fc_{number}", "type": "function_call", **fields})
    return items


def _whole(reply: Reply, call: GatewayCall) -> dict[str, Any]:
    usage, is_cut = reply.usage, reply.finish == "length"
    return {
        "id": "resp_0",
        "object": "response",
        "created_at": int(time.time()),
        "model": reply.model or call.model,
        "status": "incomplete" if is_cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "instructions": None,
        "metadata": {},
        "output": _items(reply),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage
        and {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input + usage.output,
        },
    }


def _events(reply: Reply, call: GatewayCall) -> Iterator[str]:
    for number, (kind, fields) in enumerate(_steps(_whole(reply, call))):
        yield as_event(kind, sequence_number=number, **fields)


def _steps(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events' types and fields."""
    begun: dict[str, Any] = whole | {"output": [], "status": "in_progress", "usage": None}
    yield "response.created", {"response": begun}
    for index, item in enumerate(whole["output"]):
        place = {"item_id": item["id"], "output_index": index}
        is_call = item["type"] == "function_call"
        empty: dict[str, Any] = {"arguments": ""} if is_call else {"content": []}
        yield "response.output_item.added", {"output_index": index, "item": item | empty | {"status": "in_progress"}}
        if is_call:
            yield "response.function_call_arguments.delta", {**place, "delta": item["arguments"]}
            yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
        else:
            part, at = item["content"][0], {**place, "content_index": 0}
            yield "response.content_part.added", {**at, "part": part | {"text": ""}}
            yield "response.output_text.delta", {**at, "delta": part["text"], "logprobs": []}
            yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {**at, "part": part}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield f"response.{whole['status']}", {"response": whole}


def _refusal(kind: str, words: str) -> dict[str, Any]:
    code = "context_length_exceeded" if kind == "context" else kind
    return {"error": {"message": words, "type": "invalid_request_error", "code": code, "param": None}}


RESPONSES = Dialect(_read, _whole, _events, _refusal)
