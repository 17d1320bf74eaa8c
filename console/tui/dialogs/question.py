"""`Question`: asks for one of a few answers, each on a key, when something could be lost or paid for."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static


class Answer(msgspec.Struct, frozen=True):
    """One possible answer; `key` is also what the question returns."""

    key: str
    words: str


class Question(ModalScreen[str]):
    """Returns the key of the answer, or an empty text when the reader stepped back."""

    DEFAULT_CSS = """
    Question { align: center middle; background: $background 50%; }
    Question > Static { width: auto; max-width: 72; min-width: 40; height: auto; padding: 1 2; background: $panel;
                        border: round $focus; }
    """
    AUTO_FOCUS: ClassVar[str | None] = ""

    def __init__(self, text: Content, answers: Sequence[Answer]) -> None:
        """Ask; the first answer is also on enter. Foreign parts of `text` must come through `sanitize`."""
        super().__init__()
        self._text = text
        self._answers = answers

    def compose(self) -> ComposeResult:
        """Lay out question and answers."""
        rows = [
            Content.assemble(
                (f"{answer.key:>5}", "bold $focus"), "  ", answer.words, ("  enter", "$muted") if not place else ""
            )
            for place, answer in enumerate(self._answers)
        ]
        rows.append(Content.assemble(("  esc", "bold $focus"), "  stay"))
        yield Static(Content("\n").join([self._text, Content.empty(), *rows]))

    def on_key(self, event: events.Key) -> None:
        """Answer with the key, if it is one of an answer."""
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss("")
        elif event.key == "enter":
            self.dismiss(self._answers[0].key)
        elif (pressed := event.character or event.key) in {answer.key for answer in self._answers}:
            self.dismiss(pressed)
