"""The Gemini API: `POST /models/MODEL:streamGenerateContent`, streamed part by part."""

import json
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from console.config.model import ModelConfig
from console.config.redaction import Redactor
from console.core.chat import ChatRequest
from console.llm.wires.gemini.conversion import gemini_body, read_candidates
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.message_builder import MessageBuilder
from console.llm.wires.provider_api import OnText
from console.llm.wires.request_body import as_accepted

_MEMBERS = frozenset({"candidates", "promptFeedback", "usageMetadata"})
"""Of which every chunk has one."""
_MERGED = ({"text"}, {"text", "thought"})
"""Fields of parts that grow; a part with anything else, such as a signature, stays one of its own."""


class GeminiApi:
    """Contents of Gemini."""

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

    def builder(self, on_text: OnText, redact: Redactor) -> MessageBuilder:
        return MessageBuilder(_ContentAssembly(), read_candidates, on_text, redact)


class _ContentAssembly:
    """Parts that follow each other; the answer is whole when a chunk says why it ended."""

    def __init__(self) -> None:
        self.message: dict[str, Any] | None = None
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
                self.message = dict(self._rest)
            return False
        candidate = cast(dict[str, Any], first)
        content = candidate.get("content")
        parts = cast(dict[str, Any], content).get("parts") if isinstance(content, dict) else None
        is_new = False
        for part in cast(list[Any], parts) if isinstance(parts, list) else []:
            if isinstance(part, dict):
                is_new = self._add_part(cast(dict[str, Any], part), live) or is_new
        reason = candidate.get("finishReason")
        if reason or self.message is not None:
            if not reason and self.message is not None:
                reason = self.message["candidates"][0]["finishReason"]
            self._join()
            ended = {**candidate, "finishReason": reason, "content": {"parts": self._parts, "role": "model"}}
            self.message = self._rest | {"candidates": [ended]}
        return is_new or bool(reason)

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
