"""What watchers see of an answer while it arrives."""

from collections.abc import Callable

from console.config.redaction import LiveRedactor, Redactor
from console.llm.wires.surrogates import SurrogateJoiner

OnText = Callable[[str, str], None]
"""Sees new text at once: kind (`text`, `reasoning`, `tool`) and text."""


class _Text:
    """All of one kind of text: what has arrived, and what is kept back of it."""

    __slots__ = ("joiner", "live", "parts")

    def __init__(self, live: LiveRedactor) -> None:
        self.parts: list[str] = []
        self.joiner = SurrogateJoiner()
        self.live = live


class LiveTexts:
    """New text of each kind, without secrets; all of it together is the partial answer of a fault."""

    def __init__(self, on_text: OnText, redact: Redactor) -> None:
        self.redact = redact
        self.is_empty = True
        """Whether nothing has arrived, not even an empty text."""
        self.count = 0
        """Texts that have arrived."""
        self._on_text = on_text
        self._texts: dict[str, _Text] = {}

    def show(self, kind: str, text: object) -> bool:
        """Show new text; return whether there was any. What is no text is passed over."""
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
        """Show what was kept back while it might have become a secret or a whole character."""
        for kind, whole in self._texts.items():
            rest = whole.joiner.end()
            if shown := (whole.live.feed(rest) if rest else "") + whole.live.end():
                self._on_text(kind, shown)

    @property
    def partial(self) -> str:
        """What has arrived: the text, or else the calls, or else the thoughts; without secrets."""
        texts = ("".join(self._texts[kind].parts) for kind in ("text", "tool", "reasoning") if kind in self._texts)
        return self.redact(next(filter(None, texts), ""))
