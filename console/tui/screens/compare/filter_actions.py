"""`ChangeFilters`: the actions that choose what Compare lists."""

from collections.abc import Callable

from console.tui.screens.compare.controller import CompareController


class ChangeFilters:
    """Lists other pairs."""

    def __init__(self, controller: CompareController, *, listed: Callable[[], None], forget_words: Callable[[], None]):
        """Filter by a controller.

        Args:
            controller: what is listed.
            listed: told that other pairs are listed.
            forget_words: empties the find bar, after which the list is told.
        """
        self._controller = controller
        self._listed, self._forget_words = listed, forget_words

    def _list(self, scope: str) -> None:
        self._controller.list_scope(scope)
        self._listed()

    def action_filter_changed(self) -> None:
        """List what was lost and gained."""
        self._list("changed")

    def action_filter_lost(self) -> None:
        """List what was lost."""
        self._list("lost")

    def action_filter_gained(self) -> None:
        """List what was gained."""
        self._list("gained")

    def action_filter_neither(self) -> None:
        """List what both fail."""
        self._list("both fail")

    def action_filter_left(self) -> None:
        """List what is left out of the numbers."""
        self._list("left out")

    def action_filter_all(self) -> None:
        """List every pair."""
        self._list("all")

    def action_filter_clear(self) -> None:
        """List all changes again."""
        self._controller.list_scope("changed")
        self._forget_words()
