"""Joins the chunks, or reads the single body, of an OpenAI-style answer.

Believes nothing: every field may be missing, null or of another type. What cannot be an answer is a fault; what is odd
but readable is kept and flagged; other choices than the first are ignored. No SDK objects are built.
"""

from collections.abc import Mapping
from typing import Any, cast

from console.core.chat import Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.llm.transport.faults import fault_of, provider_error_of
from console.llm.wires.chat.tool_calls import CallCollector
from console.llm.wires.completeness import CHAT
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.usage import read_usage


class ChatAssembly:
    """Deltas of one message; the answer is whole when a choice says why it ended."""

    ends = CHAT

    def __init__(self) -> None:
        self.reason: str | None = None
        self._texts: dict[str, list[str]] = {"text": [], "reasoning": []}
        self._has_content = False
        self._calls = CallCollector()
        self._usage: Usage | None = None
        self._model = ""
        self._flags: set[str] = set()

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        del chunk  # nothing tells a chunk from an error but what explains an error
        return False

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        """Add the first choice; one without an index is the first if it stands first."""
        if chunk.get("usage") is not None:
            self._usage = read_usage(chunk["usage"])
        if not self._model and isinstance(chunk.get("model"), str):
            self._model = chunk["model"]
        choices, is_new = chunk.get("choices"), False
        for place, choice in enumerate(cast(list[Any], choices) if isinstance(choices, list) else []):
            if not isinstance(choice, dict):
                continue
            fields = cast(dict[str, Any], choice)
            index = fields.get("index")
            if (place if index is None else index) == 0:
                is_new = self._add_choice(fields, live) or is_new
        return is_new

    def message(self) -> dict[str, Any]:
        return {
            "content": "".join(self._texts["text"]) if self._has_content else None,
            "reasoning": "".join(self._texts["reasoning"]),
            "tool_calls": self._calls.calls(),
            "model": self._model,
        }

    def read(self, message: dict[str, Any], finish: str) -> Reply:
        content, reasoning, calls = message["content"], message["reasoning"], message["tool_calls"]
        usage = self._usage
        is_empty = content is None and not (reasoning or calls)
        if usage is not None and usage.input == 0 and usage.output == 0 and not is_empty:
            usage = None
        return Reply(
            content=content,
            tool_calls=tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in calls),
            reasoning=reasoning,
            finish=finish,
            usage=usage,
            model=message["model"],
            flags=tuple(self._flags | self._calls.flags),
        )

    def _add_choice(self, choice: dict[str, Any], live: LiveTexts) -> bool:
        if choice.get("error"):
            raise fault_of(provider_error_of(live.redact.value(choice)))
        part = choice.get("delta")
        if not isinstance(part, dict):
            part = choice.get("message")
        is_new = self._add_part(cast(dict[str, Any], part), live) if isinstance(part, dict) else False
        if isinstance(choice.get("text"), str):  # a completion of one text
            is_new = self._add("text", choice["text"], live) or is_new
        # Gemini's OpenAI-style API has sent `finishReason` beside an empty `finish_reason`.
        reason = choice.get("finish_reason") or choice.get("finishReason")
        if reason:
            self.reason = reason if isinstance(reason, str) else repr(reason)
            is_new = True
        return is_new

    def _add_part(self, part: dict[str, Any], live: LiveTexts) -> bool:
        is_new = False
        thinking = part.get("reasoning_content") or part.get("reasoning")
        if isinstance(thinking, str):
            is_new = self._add("reasoning", thinking, live)
        if part.get("content") is not None:
            is_new = self._add_content(part["content"], live) or is_new
        if isinstance(part.get("refusal"), str) and part["refusal"]:
            self._flags.add("refusal")
            is_new = self._add("text", part["refusal"], live) or is_new
        if part.get("tool_calls"):
            is_new = live.show("tool", self._calls.add_deltas(part["tool_calls"])) or is_new
        elif part.get("function_call"):
            is_new = live.show("tool", self._calls.add_function_call(part["function_call"])) or is_new
        return is_new

    def _add_content(self, content: object, live: LiveTexts) -> bool:
        if isinstance(content, str):
            return self._add("text", content, live)
        if not isinstance(content, list):
            raise Fault(FaultKind.BAD_ANSWER, f"the answer's content is {type(content).__name__}, not text")
        is_new = False
        for part in cast(list[Any], content):
            text = cast(dict[str, Any], part).get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                is_new = self._add("text", text, live) or is_new
            elif isinstance(part, dict):
                is_new = self._add("reasoning", _thinking_text(cast(dict[str, Any], part)), live) or is_new
        return is_new

    def _add(self, kind: str, text: str, live: LiveTexts) -> bool:
        if kind == "text":
            self._has_content = True
        if text:
            self._texts[kind].append(text)
        return live.show(kind, text)


def _thinking_text(part: dict[str, Any]) -> str:
    """Return the thoughts in a content part of the form `{"type": "thinking", "thinking": [{"text": …}]}`."""
    thinking = part.get("thinking")
    if isinstance(thinking, str):
        return thinking
    parts = cast(list[Any], thinking) if isinstance(thinking, list) else []
    texts = (cast(dict[str, Any], part).get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))
