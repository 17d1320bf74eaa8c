"""Builds one reply from the chunks, or the single body, of an OpenAI-style answer.

Believes nothing: every field may be missing, null or of another type. What cannot be an answer is a fault; what is odd
but readable is kept and flagged; other choices than the first are ignored. No SDK objects are built.

Two promises hold for every client that builds its replies here: no `Reply` is made of an answer that has not been
proven whole (`completeness.py`), and neither it, nor its live text, nor its `partial` holds a secret that was echoed.
"""

from collections.abc import Callable
from typing import Any, cast

from console.config.redaction import Redactor
from console.core.chat import Reply, Usage
from console.core.fault import Fault, FaultKind
from console.llm.transport.faults import fault_of, provider_error_of, reports_error
from console.llm.wires.chat.tool_calls import CallCollector
from console.llm.wires.completeness import finish_of
from console.llm.wires.surrogates import FLAG, SurrogateJoiner
from console.llm.wires.usage import read_usage


class ReplyBuilder:
    """Collects the chunks of one reply."""

    def __init__(self, on_text: Callable[[str, str], None], redact: Redactor) -> None:
        """Start an empty reply.

        Args:
            on_text: sees new text at once, as `on_text(kind, text)`.
            redact: knows the secrets that were sent with the request.
        """
        self.redact = redact
        self._on_text = on_text
        self._live = {kind: redact.live() for kind in ("text", "reasoning", "tool")}
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._joiners = {"text": SurrogateJoiner(), "reasoning": SurrogateJoiner()}
        self._has_content = False
        self._calls = CallCollector()
        self._usage: Usage | None = None
        self._model = ""
        self._flags: set[str] = set()
        self._finish: str | None = None
        self._went_on = self._is_marked = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing of an answer has arrived."""
        return not (self._content or self._reasoning or len(self._calls) or self._has_content)

    @property
    def is_complete(self) -> bool:
        """Whether the server has proven that the answer is whole.

        It has said why the model stopped. Some gateways to Gemini say so with every chunk: where text came after the
        reason, only the end mark behind it all is a proof.
        """
        return self._finish is not None and (self._is_marked or not self._went_on)

    def mark_end(self) -> None:
        """Note that the server has marked the end of its stream."""
        self._is_marked = True

    def check_complete(self) -> None:
        """Refuse an answer that has not been proven whole.

        Raises:
            Fault: `bad_answer` with nothing in it, `truncated` without the reason why the model stopped.
        """
        if self.is_empty and self._finish in (None, "tool_calls"):
            announced = "calls that it does not hold" if self._finish else "nothing"
            raise Fault(FaultKind.BAD_ANSWER, f"the answer holds {announced}")
        if self._finish is None and self._is_marked:
            raise Fault(FaultKind.TRUNCATED, "the answer ended without saying why the model stopped (no finish_reason)")
        if not self.is_complete:
            raise Fault(FaultKind.TRUNCATED, "the answer ended before the server said that it is whole")

    def flag(self, oddity: str) -> None:
        """Note an oddity worth showing, such as a missing end mark."""
        self._flags.add(oddity)

    def add_chunk(self, chunk: object) -> bool:
        """Add a decoded chunk or body; return whether it brought anything new of the answer.

        Raises:
            Fault: it reports an error, or is no part of an answer.
        """
        if reports_error(chunk):
            raise fault_of(provider_error_of(self.redact.value(chunk)))
        if not isinstance(chunk, dict):
            raise Fault(FaultKind.BAD_ANSWER, "the server sent JSON that is no part of an answer")
        fields = cast(dict[str, Any], chunk)
        if fields.get("usage") is not None:
            self._usage = read_usage(fields["usage"])
        if not self._model and isinstance(fields.get("model"), str):
            self._model = fields["model"]
        return self._add_choices(fields.get("choices"))

    def _add_choices(self, choices: object) -> bool:
        """Add the first choice; one without an index is the first if it stands first."""
        is_new = False
        for place, choice in enumerate(cast(list[Any], choices) if isinstance(choices, list) else []):
            if not isinstance(choice, dict):
                continue
            fields = cast(dict[str, Any], choice)
            index = fields.get("index")
            if (place if index is None else index) == 0:
                is_new = self._add_choice(fields) or is_new
        return is_new

    def _add_choice(self, choice: dict[str, Any]) -> bool:
        if choice.get("error"):
            raise fault_of(provider_error_of(self.redact.value(choice)))
        part = choice.get("delta")
        if not isinstance(part, dict):
            part = choice.get("message")
        is_new = self._add_part(cast(dict[str, Any], part)) if isinstance(part, dict) else False
        if isinstance(choice.get("text"), str):  # a completion of one text
            self._has_content = True
            is_new = self._add("text", choice["text"]) or is_new
        if is_new and self._finish is not None:
            self._went_on = True
        # Gemini's OpenAI-style API has sent `finishReason` beside an empty `finish_reason`.
        reason = choice.get("finish_reason") or choice.get("finishReason")
        if reason:
            self.finish_with(reason if isinstance(reason, str) else repr(reason))
            is_new = True
        return is_new

    def finish_with(self, reason: str) -> None:
        """Note why the server says that the model stopped.

        Raises:
            Fault: for this reason no answer is whole.
        """
        self._finish = finish_of(self.redact(reason)) or self._finish

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
            shown = self._live[kind].feed(joined)
            if shown:
                self._on_text(kind, shown)
        return True

    def _show(self, kind: str, text: str) -> None:
        if text:
            self._on_text(kind, text)

    def _show_call(self, text: str) -> bool:
        self._show("tool", self._live["tool"].feed(text))
        return bool(text)

    @property
    def partial(self) -> str:
        """What has arrived: the text, or else the calls, or else the thoughts."""
        return self.redact("".join(self._content) or self._calls.text() or "".join(self._reasoning))

    def reply(self, latency_s: float, first_token_s: float | None) -> Reply:
        """Return the whole reply.

        Raises:
            Fault: the answer has not been proven whole.
        """
        self.check_complete()
        for kind, joiner in self._joiners.items():
            self._add_rest(kind, joiner)
        for kind, live in self._live.items():
            self._show(kind, live.end())
        usage = self._usage
        if usage is not None and usage.input == 0 and usage.output == 0 and not self.is_empty:
            usage = None
        return Reply(
            content=self._without_secrets("".join(self._content)) if self._has_content else None,
            tool_calls=self._calls.build(self._without_secrets),
            reasoning=self._without_secrets("".join(self._reasoning)),
            finish=self._finish or "",
            usage=usage,
            model=self._without_secrets(self._model),
            latency_s=latency_s,
            first_token_s=first_token_s,
            flags=tuple(sorted(self._flags | self._calls.flags)),
        )

    def _without_secrets(self, text: str) -> str:
        redacted = self.redact.known(text)
        if redacted is not text:
            self._flags.add("a secret was taken out")
        return redacted

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
