"""The Gemini API: `POST /models/MODEL:streamGenerateContent`, streamed part by part."""

import json
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.llm.transport.events import SseReader
from console.llm.wires.completeness import GEMINI
from console.llm.wires.gemini.conversion import gemini_body, read_candidates
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.request_body import as_accepted

_MEMBERS = frozenset({"candidates", "promptFeedback", "usageMetadata"})
"""Of which every chunk has one."""
_MERGED = ({"text"}, {"text", "thought"})
"""Fields of parts that grow; a part with anything else, such as a signature, stays one of its own."""


class _ContentAssembly:
    """Parts that follow each other; the answer is whole when a chunk says why it ended."""

    ends = GEMINI

    def __init__(self) -> None:
        self.reason: str | None = None
        self._candidate: dict[str, Any] | None = None
        self._parts: list[dict[str, Any]] = []
        self._pieces: list[str] = []
        """Of the last part's text; joined when it is whole, as a text that grows piece by piece is copied each time."""
        self._rest: dict[str, Any] = {}

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return not _MEMBERS.isdisjoint(chunk)

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        self._rest |= {key: value for key, value in chunk.items() if key != "candidates"}
        candidates = chunk.get("candidates")
        first = cast(list[Any], candidates)[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(first, dict):
            feedback = chunk.get("promptFeedback")
            if isinstance(feedback, dict) and "blockReason" in feedback:
                self.reason, self._candidate = "prompt blocked", None
            return False
        candidate = cast(dict[str, Any], first)
        content = candidate.get("content")
        parts = cast(dict[str, Any], content).get("parts") if isinstance(content, dict) else None
        is_new = False
        for part in cast(list[Any], parts) if isinstance(parts, list) else []:
            if isinstance(part, dict):
                is_new = self._add_part(cast(dict[str, Any], part), live) or is_new
        self._candidate = candidate
        if reason := candidate.get("finishReason"):
            self.reason = str(reason)
        return is_new or bool(reason)

    def message(self) -> dict[str, Any]:
        if self._candidate is None:
            return self._rest
        self._join()
        return self._rest | {"candidates": [self._candidate | {"content": {"parts": self._parts, "role": "model"}}]}

    def read(self, message: dict[str, Any], finish: str) -> Reply:
        return read_candidates(message, finish)

    def _join(self) -> None:
        if self._pieces:
            self._parts[-1]["text"] = "".join(self._pieces)

    def _add_part(self, part: dict[str, Any], live: LiveTexts) -> bool:
        last = self._parts[-1] if self._parts else {}
        if set(part) in _MERGED and set(last) == set(part) and last.get("thought") == part.get("thought"):
            self._pieces.append(str(part["text"]))
        else:
            self._join()
            self._parts.append(dict(part))
            self._pieces = [str(part["text"])] if set(part) in _MERGED else []
        if "functionCall" in part:
            return live.show("tool", json.dumps(part["functionCall"]))
        return live.show("reasoning" if part.get("thought") else "text", part.get("text"))


class GeminiApi:
    """Contents of Gemini."""

    events = SseReader
    assembly = _ContentAssembly

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key}

    def path(self, model: ModelConfig, *, streamed: bool) -> str:
        method = "streamGenerateContent?alt=sse" if streamed else "generateContent"
        return f"models/{quote(model.model_id, safe='')}:{method}"

    def body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        return as_accepted(model, gemini_body(model, request))

    def is_streamed(self, body: Mapping[str, Any]) -> bool:
        del body
        return True
