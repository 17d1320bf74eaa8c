"""`FindSession`: opens and closes the find bar of a screen and reports its text."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from textual.screen import Screen
from textual.widget import Widget

if TYPE_CHECKING:
    from console.tui.widgets.find_bar import FindBar


class FindChanged(Protocol):
    """A screen's handler for the find bar's text."""

    def __call__(self, text: str, *, done: bool) -> None:
        """Filter or search; `done` is True when enter or escape closed the bar (escape with an empty string)."""
        ...


class FindSession:
    """Handles the action `find`; the bar is created on first use."""

    def __init__(self, screen: Screen[Any], hint: str, changed: FindChanged, closed: Callable[[], None]) -> None:
        """Start with the bar closed; `changed` is called on every change of its text, `closed` when it is closed."""
        self._screen = screen
        self._hint, self._changed, self._closed = hint, changed, closed
        self._bar: FindBar | None = None
        self.origin: Widget | None = None
        """The widget that was focused before the bar was opened."""

    async def action_find(self) -> None:
        from console.tui.widgets.find_bar import FindBar

        if self._bar is None:
            self._bar = FindBar(self._hint, self._typed, self.close)
            await self._screen.mount(self._bar)
        self.origin = self._screen.focused
        self._bar.open()

    @property
    def is_open(self) -> bool:
        return self._bar is not None and self._bar.is_open

    def clear(self) -> None:
        if self._bar is not None:
            self._bar.value = ""
        self._changed("", done=False)

    def fill(self, text: str) -> None:
        """Apply a text as if it had been typed and kept."""
        if self._bar is not None:
            self._bar.value = text
        self._changed(text, done=True)
        self._closed()

    def close(self, text: str) -> None:
        if self._bar is not None:
            self._bar.close(text)
        if self.origin is not None:
            self.origin.focus()
        self._changed(text, done=True)
        self._closed()

    def _typed(self, text: str) -> None:
        self._changed(text, done=False)
