"""One reply out of the chunks, or the single body, of an OpenAI-style answer.

Believes nothing: every field may be missing, null or of another type. What cannot be an answer is a fault; what is odd
but readable is kept and flagged; other choices than the first are ignored. No SDK objects are built.
"""

from collections.abc import Callable
from typing import Any, cast

from console.core.chat import Reply, Usage
from console.core.fault import Fault, FaultKind
from console.llm.calls import CallCollector
from console.llm.faults import fault_of, words_of
from console.llm.surrogates import FLAG, SurrogateJoiner
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
    """Collects one reply."""

    def __init__(self, on_text: Callable[[str, str], None]) -> None:
        """Begin; `on_text(kind, text)` sees new text at once."""
        self._on_text = on_text
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._menders = {"text": SurrogateJoiner(), "reasoning": SurrogateJoiner()}
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
        """Note an oddity worth showing."""
        self._flags.add(oddity)

    def take(self, chunk: object) -> bool:
        """Take a decoded chunk or body; return whether it brought anything new of the answer.

        Raises:
            Fault: it reports an error, or is no part of an answer.
        """
        if not isinstance(chunk, dict):
            raise Fault(FaultKind.BAD_ANSWER, "the server sent JSON that is no part of an answer")
        fields = cast(dict[str, Any], chunk)
        if fields.get("error"):
            raise fault_of(words_of(fields))
        if fields.get("usage") is not None:
            self._usage = read_usage(fields["usage"])
        if not self._model and isinstance(fields.get("model"), str):
            self._model = fields["model"]
        return self._take_choices(fields.get("choices"))

    def _take_choices(self, choices: object) -> bool:
        news = False
        for choice in cast(list[Any], choices) if isinstance(choices, list) else []:
            fields = cast(dict[str, Any], choice) if isinstance(choice, dict) else None
            if fields is not None and fields.get("index") in (0, None):
                news = self._take_choice(fields) or news
        return news

    def _take_choice(self, choice: dict[str, Any]) -> bool:
        part = choice.get("delta")
        if not isinstance(part, dict):
            part = choice.get("message")
        news = self._take_part(cast(dict[str, Any], part)) if isinstance(part, dict) else False
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._end(reason, choice)
            news = True
        return news

    def _take_part(self, part: dict[str, Any]) -> bool:
        news = False
        thought = part.get("reasoning_content") or part.get("reasoning")
        if isinstance(thought, str):
            news = self._add("reasoning", thought)
        if part.get("content") is not None:
            news = self._take_content(part["content"]) or news
        if isinstance(part.get("refusal"), str) and part["refusal"]:
            self._flags.add("refusal")
            news = self._add("text", part["refusal"]) or news
        if part.get("tool_calls"):
            news = self._show_call(self._calls.take(part["tool_calls"])) or news
        elif part.get("function_call"):
            news = self._show_call(self._calls.take_function(part["function_call"])) or news
        return news

    def _take_content(self, content: object) -> bool:
        if isinstance(content, str):
            self._has_content = True
            return self._add("text", content)
        if not isinstance(content, list):
            raise Fault(FaultKind.BAD_ANSWER, f"the answer's content is {type(content).__name__}, not text")
        news = False
        for part in cast(list[Any], content):
            text = cast(dict[str, Any], part).get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                self._has_content = True
                news = self._add("text", text) or news
            elif isinstance(part, dict):
                news = self._add("reasoning", _thinking(cast(dict[str, Any], part))) or news
        return news

    def _add(self, kind: str, text: str) -> bool:
        if not text:
            return False
        mended = self._menders[kind].feed(text)
        if mended:
            (self._content if kind == "text" else self._reasoning).append(mended)
            if kind == "text":
                self._has_content = True
            self._on_text(kind, mended)
        return True

    def _show_call(self, text: str) -> bool:
        if text:
            self._on_text("tool", text)
        return bool(text)

    def _end(self, reason: str, choice: dict[str, Any]) -> None:
        """Note why the model stopped; some gateways report a provider's failure in this place."""
        if reason.lower() == "error":
            raise fault_of(words_of(choice))
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
        for kind, mender in self._menders.items():
            self._add_rest(kind, mender)
        calls = self._calls.finished()
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

    def _add_rest(self, kind: str, mender: SurrogateJoiner) -> None:
        rest = mender.end()
        if rest:
            (self._content if kind == "text" else self._reasoning).append(rest)
        if mender.replaced:
            self._flags.add(FLAG)


def _thinking(part: dict[str, Any]) -> str:
    """Return the thoughts in a content part of the form `{"type": "thinking", "thinking": [{"text": …}]}`."""
    thinking = part.get("thinking")
    if isinstance(thinking, str):
        return thinking
    parts = cast(list[Any], thinking) if isinstance(thinking, list) else []
    texts = (cast(dict[str, Any], part).get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))
