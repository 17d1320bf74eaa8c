"""Redacted text of an answer, shown while it arrives."""

from collections.abc import Callable

from console.config.redaction import LiveRedactor, Redactor
from console.llm.wires.surrogates import SurrogateJoiner

OnText = Callable[[str, str], None]
"""Called with new text: kind (`text`, `reasoning`, `tool`) and text."""


class _Text:
    __slots__ = ("joiner", "live", "parts")

    def __init__(self, live: LiveRedactor) -> None:
        self.parts: list[str] = []
        self.joiner = SurrogateJoiner()
        self.live = live


class LiveTexts:
    """Shows new text of each kind, redacted, and keeps it as the partial answer of a fault."""

    def __init__(self, on_text: OnText, redact: Redactor) -> None:
        self.redact = redact
        self.is_empty = True
        """True until a text has arrived, even an empty one."""
        self.count = 0
        """Number of non-empty texts so far."""
        self._on_text = on_text
        self._texts: dict[str, _Text] = {}

    def show(self, kind: str, text: object) -> bool:
        """Show new text and return True; anything but a non-empty string is ignored."""
        if not isinstance(text, str):
            return False
        self.is_empty = False
        if not text:
            return False
        self.count += 1
        whole = self._texts.get(kind)
        if whole is None:
            whole = self._texts[kind] = _Text(self.redact.live())
        if text := whole.joiner.feed(text):
            whole.parts.append(text)
            if shown := whole.live.feed(text):
                self._on_text(kind, shown)
        return True

    def end(self) -> None:
        """Show the text held back as a possible part of a secret or a character."""
        for kind, whole in self._texts.items():
            rest = whole.joiner.end()
            whole.parts.append(rest)
            if shown := (whole.live.feed(rest) if rest else "") + whole.live.end():
                self._on_text(kind, shown)

    def said(self, kind: str) -> str:
        """Return all text of a kind so far, unredacted."""
        return "".join(self._texts[kind].parts) if kind in self._texts else ""

    @property
    def partial(self) -> str:
        """Redacted text so far, or else the calls, or else the reasoning."""
        return self.redact(self.said("text") or self.said("tool") or self.said("reasoning"))
