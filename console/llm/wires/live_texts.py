"""What watchers see of an answer while it arrives, from APIs whose replies are made of the finished message."""

from console.config.redaction import Redactor
from console.llm.wires.provider_api import OnText

KINDS = ("text", "reasoning", "tool")


class LiveTexts:
    """New text of each kind, without secrets; all of it together is the partial answer of a fault."""

    def __init__(self, on_text: OnText, redact: Redactor) -> None:
        self._on_text, self._redact = on_text, redact
        self._live = {kind: redact.live() for kind in KINDS}
        self._whole: dict[str, list[str]] = {kind: [] for kind in KINDS}

    def show(self, kind: str, text: object) -> bool:
        """Show new text; return whether there was any. What is no text is passed over."""
        if not isinstance(text, str) or not text:
            return False
        text = text.encode("utf-8", "replace").decode("utf-8")  # half a character has no UTF-8 form
        self._whole[kind].append(text)
        self._pass_on(kind, self._live[kind].feed(text))
        return True

    def end(self) -> None:
        """Show what was kept back while it might have become a secret."""
        for kind, live in self._live.items():
            self._pass_on(kind, live.end())

    @property
    def partial(self) -> str:
        """What has arrived: the text, or else the calls, or else the thoughts; without secrets."""
        texts = {kind: "".join(parts) for kind, parts in self._whole.items()}
        return self._redact(texts["text"] or texts["tool"] or texts["reasoning"])

    def _pass_on(self, kind: str, text: str) -> None:
        if text:
            self._on_text(kind, text)
