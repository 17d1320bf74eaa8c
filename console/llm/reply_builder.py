"""Builds one reply from the chunks, or the single body, of an OpenAI-style answer.

Believes nothing: every field may be missing, null or of another type. What cannot be an answer is a fault; what is odd
but readable is kept and flagged; other choices than the first are ignored. No SDK objects are built.
"""

from collections.abc import Callable
from typing import Any, cast

from console.core.chat import Reply, Usage
from console.core.fault import Fault, FaultKind
from console.llm.faults import fault_of, provider_error_of
from console.llm.surrogates import FLAG, SurrogateJoiner
from console.llm.tool_calls import CallCollector
from console.llm.usage import read_usage

_FINISH = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "end_turn": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "safety": "content_filter",
    "refusal": "content_filter",
}


class ReplyBuilder:
    """Collects the chunks of one reply."""

    def __init__(self, on_text: Callable[[str, str], None]) -> None:
        """Start an empty reply; `on_text(kind, text)` sees new text at once."""
        self._on_text = on_text
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._joiners = {"text": SurrogateJoiner(), "reasoning": SurrogateJoiner()}
        self._has_content = False
        self._calls = CallCollector()
        self._usage: Usage | None = None
        self._model = ""
        self._flags: set[str] = set()
        self.finish: str | None = None
        """Why the model stopped; None while it has not said."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing of an answer has arrived."""
        return not (self._content or self._reasoning or len(self._calls) or self._has_content)

    def flag(self, oddity: str) -> None:
        """Note an oddity worth showing, such as a missing end mark."""
        self._flags.add(oddity)

    def add_chunk(self, chunk: object) -> bool:
        """Add a decoded chunk or body; return whether it brought anything new of the answer.

        Raises:
            Fault: it reports an error, or is no part of an answer.
        """
        if not isinstance(chunk, dict):
            raise Fault(FaultKind.BAD_ANSWER, "the server sent JSON that is no part of an answer")
        fields = cast(dict[str, Any], chunk)
        if fields.get("error"):
            raise fault_of(provider_error_of(fields))
        if fields.get("usage") is not None:
            self._usage = read_usage(fields["usage"])
        if not self._model and isinstance(fields.get("model"), str):
            self._model = fields["model"]
        return self._add_choices(fields.get("choices"))

    def _add_choices(self, choices: object) -> bool:
        is_new = False
        for choice in cast(list[Any], choices) if isinstance(choices, list) else []:
            fields = cast(dict[str, Any], choice) if isinstance(choice, dict) else None
            if fields is not None and fields.get("index") in (0, None):
                is_new = self._add_choice(fields) or is_new
        return is_new

    def _add_choice(self, choice: dict[str, Any]) -> bool:
        part = choice.get("delta")
        if not isinstance(part, dict):
            part = choice.get("message")
        is_new = self._add_part(cast(dict[str, Any], part)) if isinstance(part, dict) else False
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._end(reason, choice)
            is_new = True
        return is_new

    def _add_part(self, part: dict[str, Any]) -> bool:
        is_new = False
        thinking = part.get("reasoning_content") or part.get("reasoning")
        if isinstance(thinking, str):
            is_new = self._add("reasoning", thinking)
        if part.get("content") is not None:
            is_new = self._add_content(part["content"]) or is_new
        if isinstance(part.get("refusal"), str) and part["refusal"]:
            self._flags.add("refusal")
            is_new = self._add("text", part["refusal"]) or is_new
        if part.get("tool_calls"):
            is_new = self._show_call(self._calls.add_deltas(part["tool_calls"])) or is_new
        elif part.get("function_call"):
            is_new = self._show_call(self._calls.add_function_call(part["function_call"])) or is_new
        return is_new

    def _add_content(self, content: object) -> bool:
        if isinstance(content, str):
            self._has_content = True
            return self._add("text", content)
        if not isinstance(content, list):
            raise Fault(FaultKind.BAD_ANSWER, f"the answer's content is {type(content).__name__}, not text")
        is_new = False
        for part in cast(list[Any], content):
            text = cast(dict[str, Any], part).get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                self._has_content = True
                is_new = self._add("text", text) or is_new
            elif isinstance(part, dict):
                is_new = self._add("reasoning", _thinking_text(cast(dict[str, Any], part))) or is_new
        return is_new

    def _add(self, kind: str, text: str) -> bool:
        if not text:
            return False
        joined = self._joiners[kind].feed(text)
        if joined:
            (self._content if kind == "text" else self._reasoning).append(joined)
            if kind == "text":
                self._has_content = True
            self._on_text(kind, joined)
        return True

    def _show_call(self, text: str) -> bool:
        if text:
            self._on_text("tool", text)
        return bool(text)

    def _end(self, reason: str, choice: dict[str, Any]) -> None:
        """Note why the model stopped; some gateways report a provider's failure in this place."""
        if reason.lower() == "error":
            raise fault_of(provider_error_of(choice))
        self.finish = _FINISH.get(reason.lower())
        if self.finish is None:
            self.finish = "stop"
            self._flags.add(f"finish reason {reason[:40]}")

    @property
    def partial(self) -> str:
        """What has arrived: the text, or else the calls, or else the thoughts."""
        return "".join(self._content) or self._calls.text() or "".join(self._reasoning)

    def reply(self, latency_s: float, first_token_s: float | None) -> Reply:
        """Return the whole reply."""
        for kind, joiner in self._joiners.items():
            self._add_rest(kind, joiner)
        calls = self._calls.build()
        usage = self._usage
        if usage is not None and usage.input == 0 and usage.output == 0 and not self.is_empty:
            usage = None
        return Reply(
            content="".join(self._content) if self._has_content else None,
            tool_calls=calls,
            reasoning="".join(self._reasoning),
            finish=self.finish or "stop",
            usage=usage,
            model=self._model,
            latency_s=latency_s,
            first_token_s=first_token_s,
            flags=tuple(sorted(self._flags | self._calls.flags)),
        )

    def _add_rest(self, kind: str, joiner: SurrogateJoiner) -> None:
        rest = joiner.end()
        if rest:
            (self._content if kind == "text" else self._reasoning).append(rest)
        if joiner.replaced:
            self._flags.add(FLAG)


def _thinking_text(part: dict[str, Any]) -> str:
    """Return the thoughts in a content part of the form `{"type": "thinking", "thinking": [{"text": …}]}`."""
    thinking = part.get("thinking")
    if isinstance(thinking, str):
        return thinking
    parts = cast(list[Any], thinking) if isinstance(thinking, list) else []
    texts = (cast(dict[str, Any], part).get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))
