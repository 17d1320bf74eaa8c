"""Anthropic's Messages API: content in blocks, tools with `input_schema`, results in user messages."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from console.core.chat import Message, Reply, ToolCall
from console.llm.gateway.dialect import CannotConvert, Dialect, GatewayCall, as_event, take

_API = "anthropic"
_OF_TRANSPORT = ("metadata", "service_tier", "container", "context_management", "betas")
_VOLATILE = re.compile(r"^x-anthropic-billing-header:.*$\n?", re.MULTILINE)
"""Text in the instructions of coding agents that changes with every call, so that no two calls are equal."""
_FINISH = {"tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def _read(body: dict[str, Any]) -> GatewayCall:
    model, streams = take(body, "model", str, ""), take(body, "stream", bool, False)
    messages: list[dict[str, Any]] = []
    if system := _VOLATILE.sub("", _text(take(body, "system", (str, list), ""))).strip():
        messages.append({"role": "system", "content": system})
    for message in take(body, "messages", list, []):
        messages += _messages(message)
    tools = [_tool(tool) for tool in take(body, "tools", list, [])]
    for name in _OF_TRANSPORT:
        body.pop(name, None)
    params = {name: value for name, value in body.items() if value is not None}
    if (stop := params.pop("stop_sequences", None)) is not None:
        params["stop"] = stop
    if choice := params.pop("tool_choice", None):
        params |= _choice(choice)
    return GatewayCall(cast("list[Message]", messages), tools, params, streams, model)


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    kind = choice.get("type")
    one = {"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") else {}
    if kind == "tool":
        return {"tool_choice": {"type": "function", "function": {"name": choice.get("name", "")}}, **one}
    if kind not in _CHOICES:
        raise CannotConvert(f"`tool_choice` is {kind!r}")
    return {"tool_choice": _CHOICES[kind], **one}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    if "input_schema" not in tool:
        raise CannotConvert(f"the tool {tool.get('name')!r} is one of Anthropic's own, `{tool.get('type')}`")
    function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _text(content: Any) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in content:
        if block.get("type") != "text":
            raise CannotConvert(f"a block of the type `{block.get('type')}` where only text can be passed on")
        texts.append(block["text"])
    return "\n".join(texts)


def _messages(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the chat messages for one message: tool results first, as their calls precede it."""
    role, content = message.get("role"), message.get("content")
    if isinstance(content, str):
        yield {"role": role, "content": content}
        return
    blocks = cast("list[dict[str, Any]]", content or [])
    if role == "assistant":
        yield _assistant(blocks)
        return
    rest: list[dict[str, Any]] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _text(block.get("content") or "")}
        else:
            rest.append(_part(block))
    if rest:
        is_text = all(part["type"] == "text" for part in rest)
        yield {"role": role, "content": "\n".join(part["text"] for part in rest) if is_text else rest}


def _part(block: dict[str, Any]) -> dict[str, Any]:
    source: dict[str, Any] = block.get("source") or {}
    match block.get("type"), source.get("type"):
        case "text", _:
            return {"type": "text", "text": block["text"]}
        case "image", "base64":
            return {"type": "image_url", "image_url": {"url": f"data:{source['media_type']};base64,{source['data']}"}}
        case "image", "url":
            return {"type": "image_url", "image_url": {"url": source["url"]}}
        case kind, _:
            raise CannotConvert(f"a block of the type `{kind}`")


def _assistant(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an assistant message; thoughts are restored from our own reply (see `Reply.native`)."""
    texts, calls = [block["text"] for block in blocks if block.get("type") == "text"], list[dict[str, Any]]()
    for block in blocks:
        if block.get("type") == "tool_use":
            function = {"name": block["name"], "arguments": json.dumps(block["input"])}
            calls.append({"id": block["id"], "type": "function", "function": function})
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) if texts else None}
    return message | {"tool_calls": calls} if calls else message


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    if reply.native is not None and reply.native.get("api") == _API and isinstance(reply.native["content"], list):
        return reply.native["content"]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.content}] if reply.content else []
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)} for call in reply.tool_calls
    ]


def _input(call: ToolCall) -> dict[str, Any]:
    """Return the arguments as an object, wrapping malformed ones, since the API has no other format for them."""
    try:
        value = json.loads(call.arguments or "{}")
    except ValueError:
        value = None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"arguments": call.arguments}


def _whole(reply: Reply, call: GatewayCall) -> dict[str, Any]:
    usage = reply.usage
    return {
        "id": "msg_0",
        "type": "message",
        "role": "assistant",
        "model": reply.model or call.model,
        "content": _blocks(reply),
        "stop_reason": _FINISH.get(reply.finish, "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input - usage.cached if usage else 0,
            "cache_read_input_tokens": usage.cached if usage else 0,
            "output_tokens": usage.output if usage else 0,
        },
    }


def _events(reply: Reply, call: GatewayCall) -> Iterator[str]:
    whole = _whole(reply, call)
    blocks, usage = whole["content"], whole["usage"]
    yield as_event("message_start", message=whole | {"content": [], "stop_reason": None})
    for index, block in enumerate(blocks):
        start, delta = _pieces(block)
        yield as_event("content_block_start", index=index, content_block=start)
        for piece in delta:
            yield as_event("content_block_delta", index=index, delta=piece)
        yield as_event("content_block_stop", index=index)
    yield as_event("message_delta", delta={"stop_reason": whole["stop_reason"], "stop_sequence": None}, usage=usage)
    yield as_event("message_stop")


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the start of a block and the piece added to it."""
    match block["type"]:
        case "text":
            return block | {"text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        case "thinking":
            signed = {"type": "signature_delta", "signature": block.get("signature", "")}
            return block | {"thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                signed,
            ]
        case _:
            return block, []


def _refusal(kind: str, words: str) -> dict[str, Any]:
    message = f"prompt is too long: {words}" if kind == "context" else words
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


ANTHROPIC = Dialect(_read, _whole, _events, _refusal)
