"""`FindSession`: opens the find bar of a screen, tells what is typed into it, and gives the focus back."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from textual.screen import Screen
from textual.widget import Widget

if TYPE_CHECKING:
    from console.tui.widgets.find_bar import FindBar


class FindChanged(Protocol):
    """What a screen does with the text of the find bar."""

    def __call__(self, text: str, *, done: bool) -> None:
        """Narrow or find; `done` when enter or escape closed the bar (escape with an empty text)."""
        ...


class FindSession:
    """Does the action `find` of a screen; the bar is made when it is first opened."""

    def __init__(self, screen: Screen[Any], hint: str, changed: FindChanged, closed: Callable[[], None]) -> None:
        """Keep the find bar closed; `changed` is told every change of its text, `closed` that it was closed."""
        self._screen = screen
        self._hint, self._changed, self._closed = hint, changed, closed
        self._bar: FindBar | None = None
        self.origin: Widget | None = None
        """What had the focus when the bar was last opened."""

    async def action_find(self) -> None:
        """Open the find bar."""
        from console.tui.widgets.find_bar import FindBar

        if self._bar is None:
            self._bar = FindBar(self._hint, self._typed, self.close)
            await self._screen.mount(self._bar)
        self.origin = self._screen.focused
        self._bar.open()

    @property
    def is_open(self) -> bool:
        """Whether the bar is shown."""
        return self._bar is not None and self._bar.is_open

    def clear(self) -> None:
        """Forget what was typed."""
        if self._bar is not None:
            self._bar.value = ""
        self._changed("", done=False)

    def close(self, text: str) -> None:
        """Close the bar, keep this text in it, and give the focus back."""
        if self._bar is not None:
            self._bar.close(text)
        if self.origin is not None:
            self.origin.focus()
        self._changed(text, done=True)
        self._closed()

    def _typed(self, text: str) -> None:
        self._changed(text, done=False)
