"""Ollama's own API: `POST /api/chat`, streamed as one JSON object per line.

Source: the published API (docs/api.md of Ollama). Thoughts are not sent back, since its templates drop them.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply, ToolCall, Usage
from console.llm.transport.events import LineReader
from console.llm.wires.completeness import CUT, OLLAMA
from console.llm.wires.content_parts import parts_of, refused
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.parts import (
    Accepted,
    name_in,
    object_in,
    objects_in,
    refuse_other_roles,
    refuse_unknown,
    text_in,
    unread,
)
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.request_body import as_accepted, call_arguments
from console.llm.wires.returned_fields import in_tool_loops
from console.llm.wires.usage import token_count

NATIVE = "ollama"
_TOP = frozenset({"format", "keep_alive", "stream", "think"})
"""Top-level parameters; all others go into `options`."""
_MESSAGE_FIELDS = frozenset({"role", "content", "thinking", "tool_calls", "tool_name", "images"})


class _MessageAssembly:
    ends = OLLAMA

    def __init__(self) -> None:
        self.reason: str | None = None
        self._texts: dict[str, list[str]] = {"content": [], "thinking": []}
        self._calls: list[dict[str, Any]] = []
        self._unread: dict[str, Any] = {}
        self._last: Mapping[str, Any] = {}

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return isinstance(chunk.get("message"), dict)

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        fields, is_new = object_in(chunk, "message"), False
        if fields is None:
            raise unread("a line of the answer has no message")
        if self._last:
            raise unread("the answer continues after its end")
        refuse_other_roles(fields)
        self._unread |= {name: value for name, value in fields.items() if name not in _MESSAGE_FIELDS}
        for name, kind in (("thinking", "reasoning"), ("content", "text")):
            text = text_in(fields, name)
            if live.show(kind, text):
                self._texts[name].append(text or "")
                is_new = True
        for call in objects_in(fields, "tool_calls"):
            name, arguments = _read_call(call)
            self._calls.append({"id": text_in(call, "id"), "name": name, "arguments": arguments})
            is_new = live.show("tool", f"{name}({json.dumps(arguments)})") or is_new
        if chunk.get("done") is True:
            self._last = chunk
            self.reason = text_in(chunk, "done_reason")
            is_new = True
        return is_new

    def add_texts(self, events: Iterable[bytes], live: LiveTexts) -> int:
        return 0

    def message(self) -> dict[str, Any]:
        texts = {name: "".join(parts) for name, parts in self._texts.items()}
        return {**texts, "tool_calls": self._calls, "model": self._last.get("model")}

    def read(self, message: dict[str, Any], finish: str, accepted: Accepted) -> Reply:
        del accepted  # its answers have no parts
        if not (message["content"].strip() or message["tool_calls"]) and finish not in CUT:
            refuse_unknown(self._unread, frozenset(), "the message says nothing, but")
        calls = tuple(
            ToolCall(call["id"] or f"call_{number}", call["name"], json.dumps(call["arguments"], ensure_ascii=False))
            for number, call in enumerate(message["tool_calls"])
        )
        return Reply(
            content=None if calls and not message["content"] else message["content"],
            tool_calls=calls,
            reasoning=message["thinking"],
            finish="tool_calls" if calls and finish == "stop" else finish,
            usage=_usage(self._last),
            model=str(message["model"] or ""),
            native={"api": NATIVE, "content": {"thinking": message["thinking"]}} if message["thinking"] else None,
        )


def _read_call(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    function = object_in(call, "function") or {}
    arguments = object_in(function, "arguments")
    if arguments is None:
        raise unread("a tool call has no arguments")
    return name_in(function, "name"), arguments


def _body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    settings: dict[str, Any] = {"temperature": model.temperature, "max_tokens": model.max_tokens}
    settings |= model.params | request.params
    settings = as_accepted(model, {name: value for name, value in settings.items() if value is not None})
    if "max_tokens" in settings:
        settings["num_predict"] = settings.pop("max_tokens")
    top = {name: settings.pop(name) for name in _TOP & settings.keys()}
    body: dict[str, Any] = {"model": model.model_id, "messages": _messages(request), "stream": True}
    if request.tools:
        body["tools"] = request.tools
    return as_accepted(model, body) | top | ({"options": settings} if settings else {})


def _messages(request: ChatRequest) -> list[dict[str, Any]]:
    """Return the messages, with arguments as objects and results that name their function."""
    names: dict[str, str] = {}
    messages: list[dict[str, Any]] = []
    for message, is_in_loop in zip(request.messages, in_tool_loops(request.messages), strict=True):
        parts = list(parts_of(message))
        pictures = [part for part in parts if not isinstance(part, str)]
        if strange := next((part for part in pictures if part.kind != "image" or part.is_link), None):
            raise refused(strange, "the Ollama API")
        texts = [part for part in parts if isinstance(part, str)]
        out: dict[str, Any] = {"role": message["role"], "content": "\n".join(texts)}
        native = message.get("native")
        if is_in_loop and native is not None and native.get("api") == NATIVE and isinstance(native["content"], dict):
            out |= native["content"]
        if pictures:
            out["images"] = [part.data for part in pictures]
        if calls := message.get("tool_calls"):
            names |= {call["id"]: call["function"]["name"] for call in calls}
            functions = [call["function"] for call in calls]
            out["tool_calls"] = [
                {"function": {"name": function["name"], "arguments": call_arguments(function)}}
                for function in functions
            ]
        if message["role"] == "tool":
            out["tool_name"] = message.get("name") or names.get(message.get("tool_call_id", ""), "")
        messages.append(out)
    return messages


def _usage(last: Mapping[str, Any]) -> Usage | None:
    sent, written = token_count(last.get("prompt_eval_count")), token_count(last.get("eval_count"))
    return None if sent is None or written is None else Usage(sent, written)


OLLAMA_API = ProviderApi(path="api/chat", body=_body, events=LineReader, assembly=_MessageAssembly)
