"""One line above the key line to narrow a list or to find in a text."""

from collections.abc import Callable

from textual import on
from textual.widgets import Input


class FindBar(Input):
    """The line; it tells what is typed, and the text that is left when enter closes it."""

    DEFAULT_CSS = """
    FindBar { dock: bottom; display: none; height: 1; border: none; padding: 0 1; background: $panel; margin-bottom: 2;
              &:focus { border: none; } &.-open { display: block; } }
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
        """Show it with what was typed last, selected."""
        self.add_class("-open")
        self.focus()

    def close(self, text: str) -> None:
        """Hide it and keep this text for the next time."""
        self.remove_class("-open")
        self.value = text

    @on(Input.Changed)
    def _tell(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self._typed(event.value)

    @on(Input.Submitted)
    def _tell_end(self, event: Input.Submitted) -> None:
        event.stop()
        self._entered(event.value)
