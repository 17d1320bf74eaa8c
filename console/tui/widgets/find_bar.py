"""`FindBar`: an input above the key line to filter a list or search a text."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import on
from textual.widgets import Input

from console.tui.keymap import bindings_for
from console.tui.textual_patches import stylesheet_of


class FindBar(Input):
    """Input that calls back on every change and when it is closed."""

    where: ClassVar[str] = "line"
    """Name of the bar in the action table."""
    typing_words: ClassVar[Mapping[str, str]] = {}
    """Empty: the bar takes typed letters, but its key line words are those of the action table."""
    BINDINGS: ClassVar = bindings_for(where)
    DEFAULT_CSS = """
    FindBar { dock: bottom; display: none; height: 1; border: none; background: $panel; margin-bottom: 2;
              &.-textual-compact { padding: 0 1; } &:focus { border: none; } &.-open { display: block; } }
    """

    def __init__(self, hint: str, typed: Callable[[str], None], entered: Callable[[str], None]) -> None:
        """Create a closed bar.

        Args:
            hint: placeholder.
            typed: called with the text on every change while the bar is open.
            entered: called with the text on enter, and with an empty string on escape.
        """
        super().__init__(placeholder=hint, compact=True)
        self._typed, self._entered = typed, entered

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self) -> None:
        """Show and focus the bar with its last text; the very next key goes to it."""
        self.add_class("-open")
        stylesheet_of(self).update(self)
        self.screen.set_focus(self)

    def action_line_keep(self) -> None:
        self._entered(self.value)

    def action_line_clear(self) -> None:
        self._entered("")

    def close(self, text: str) -> None:
        """Hide the bar and set its text for the next time."""
        self.remove_class("-open")
        self.value = text

    @on(Input.Changed)
    def _tell(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self._typed(event.value)
