"""The Anthropic Messages API: `POST /messages`, streamed block by block."""

import json
from collections.abc import Mapping
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.llm.transport.events import SseReader
from console.llm.wires.anthropic.conversion import anthropic_body, read_message
from console.llm.wires.completeness import ANTHROPIC
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.request_body import as_accepted

VERSION = "2023-06-01"
"""The API's version, sent with every request."""
_DELTAS = {"text_delta": ("text", "text"), "thinking_delta": ("thinking", "reasoning")}
"""By the type of a delta: the field of the block that it continues, and what watchers see it as."""


class _MessageAssembly:
    """Blocks that begin, grow and end; the message is whole with its last event."""

    ends = ANTHROPIC

    def __init__(self) -> None:
        self.reason: str | None = None
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._texts: dict[tuple[int, str], list[str]] = {}
        """Pieces by block and field; joined at the end, as a text that grows piece by piece is copied each time."""

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return str(chunk.get("type")).startswith(("message", "content_block", "ping"))

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        kind, index = chunk.get("type"), chunk.get("index")
        place = index if type(index) is int else len(self._blocks)
        if kind == "message":
            self._message = dict(chunk)
            self.reason = str(chunk.get("stop_reason"))
            return True
        if kind == "message_start":
            self._message = dict(_inner(chunk, "message"))
        elif kind == "content_block_start":
            self._blocks[place] = dict(_inner(chunk, "content_block"))
            name = self._blocks[place].get("name")
            return live.show("tool", f"{name}(" if isinstance(name, str) else None)
        elif kind == "content_block_delta":
            return self._grow(place, _inner(chunk, "delta"), live)
        elif kind == "message_delta":
            usage = {**_inner(self._message, "usage"), **_inner(chunk, "usage")}
            self._message |= {**_inner(chunk, "delta"), "usage": usage}
        elif kind == "message_stop":
            self._finish()
            return True
        return False

    def _grow(self, index: int, delta: Mapping[str, Any], live: LiveTexts) -> bool:
        self._blocks.setdefault(index, {})
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(str(delta.get("partial_json") or ""))
            return live.show("tool", delta.get("partial_json"))
        if kind == "signature_delta":
            self._extend(index, "signature", delta)
            return False
        if kind not in _DELTAS:
            return False
        field, shown_as = _DELTAS[kind]
        self._extend(index, field, delta)
        return live.show(shown_as, delta.get(field))

    def _extend(self, index: int, field: str, delta: Mapping[str, Any]) -> None:
        pieces = self._texts.setdefault((index, field), [str(self._blocks[index].get(field) or "")])
        pieces.append(str(delta.get(field) or ""))

    def _finish(self) -> None:
        for (index, field), pieces in self._texts.items():
            self._blocks[index][field] = "".join(pieces)
        for index, parts in self._inputs.items():
            self._blocks[index]["input"] = _input("".join(parts))
        self._message["content"] = [self._blocks[index] for index in sorted(self._blocks)]
        self.reason = str(self._message.get("stop_reason"))

    def message(self) -> dict[str, Any]:
        return self._message

    def read(self, message: dict[str, Any], finish: str) -> Reply:
        return read_message(message, finish)


class AnthropicApi:
    """Messages of Anthropic."""

    events = SseReader
    assembly = _MessageAssembly

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-api-key": key, "anthropic-version": VERSION}

    def path(self, model: ModelConfig, *, streamed: bool) -> str:
        del model, streamed
        return "messages"

    def body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        return as_accepted(model, {"stream": True, **anthropic_body(model, request)})

    def is_streamed(self, body: Mapping[str, Any]) -> bool:
        return body.get("stream") is True


def _inner(chunk: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = chunk.get(key)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _input(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        raise Fault(FaultKind.BAD_ANSWER, "the arguments of a call are not JSON") from None
