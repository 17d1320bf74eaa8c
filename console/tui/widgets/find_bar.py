"""`FindBar`: one line above the key line to narrow a list or to find in a text."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import on
from textual.widgets import Input

from console.tui.keymap import bindings_for
from console.tui.textual_patches import stylesheet_of


class FindBar(Input):
    """Calls back with what is typed, and with the text that is left when enter closes it."""

    where: ClassVar[str] = "line"
    """Its name in the action table."""
    typing_words: ClassVar[Mapping[str, str]] = {}
    """Letters go into it; the keys it has are named by the table."""
    BINDINGS: ClassVar = bindings_for(where)
    DEFAULT_CSS = """
    FindBar { dock: bottom; display: none; height: 1; border: none; background: $panel; margin-bottom: 2;
              &.-textual-compact { padding: 0 1; } &:focus { border: none; } &.-open { display: block; } }
    """

    def __init__(self, hint: str, typed: Callable[[str], None], entered: Callable[[str], None]) -> None:
        """Make a closed line.

        Args:
            hint: what can be typed, shown while nothing is.
            typed: told every change while the line is open.
            entered: told the text when enter closes it.
        """
        super().__init__(placeholder=hint, compact=True)
        self._typed, self._entered = typed, entered

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return self.has_class("-open")

    def open(self) -> None:
        """Show it with what was typed last, selected; the very next key is for it."""
        self.add_class("-open")
        stylesheet_of(self).update(self)
        self.screen.set_focus(self)

    def action_line_keep(self) -> None:
        """Close it and keep what it says."""
        self._entered(self.value)

    def action_line_clear(self) -> None:
        """Close it and forget what it says."""
        self._entered("")

    def close(self, text: str) -> None:
        """Hide it and keep this text for the next time."""
        self.remove_class("-open")
        self.value = text

    @on(Input.Changed)
    def _tell(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self._typed(event.value)
