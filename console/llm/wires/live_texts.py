"""What watchers see of an answer while it arrives."""

from collections.abc import Callable

from console.config.redaction import Redactor
from console.llm.wires.surrogates import SurrogateJoiner

OnText = Callable[[str, str], None]
"""Sees new text at once: kind (`text`, `reasoning`, `tool`) and text."""
_KINDS = ("text", "reasoning", "tool")


class LiveTexts:
    """New text of each kind, without secrets; all of it together is the partial answer of a fault."""

    def __init__(self, on_text: OnText, redact: Redactor) -> None:
        self.redact = redact
        self.is_empty = True
        """Whether nothing has arrived, not even an empty text."""
        self.count = 0
        """Texts that have arrived."""
        self._on_text = on_text
        self._live = {kind: redact.live() for kind in _KINDS}
        self._joiners = {kind: SurrogateJoiner() for kind in _KINDS}
        self._whole: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    def show(self, kind: str, text: object) -> bool:
        """Show new text; return whether there was any. What is no text is passed over."""
        if not isinstance(text, str):
            return False
        self.is_empty = False
        if not text:
            return False
        self.count += 1
        self._pass_on(kind, self._joiners[kind].feed(text))
        return True

    def end(self) -> None:
        """Show what was kept back while it might have become a secret or a whole character."""
        for kind, live in self._live.items():
            self._pass_on(kind, self._joiners[kind].end())
            if rest := live.end():
                self._on_text(kind, rest)

    @property
    def partial(self) -> str:
        """What has arrived: the text, or else the calls, or else the thoughts; without secrets."""
        texts = {kind: "".join(parts) for kind, parts in self._whole.items()}
        return self.redact(texts["text"] or texts["tool"] or texts["reasoning"])

    def _pass_on(self, kind: str, text: str) -> None:
        if text:
            self._whole[kind].append(text)
            if shown := self._live[kind].feed(text):
                self._on_text(kind, shown)
