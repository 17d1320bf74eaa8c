"""The keys that sort a list; which columns a screen offers is declared in `tui.actions`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partialmethod
from typing import Protocol


class SortedList(Protocol):
    """A list that can be sorted by a column."""

    def sort(self, column: str) -> None:
        """Sort by a column, reversed if it is chosen again; an empty name restores the list's own order."""
        ...

    def reverse_order(self) -> None: ...


@dataclass
class SortActions:
    """Sorts a list by a column."""

    controller: SortedList
    listed: Callable[[], None]
    """Called after the list has changed."""

    def _sort(self, column: str) -> None:
        self.controller.sort(column)
        self.listed()

    action_sort_score = partialmethod(_sort, "score")
    action_sort_model = partialmethod(_sort, "model")
    action_sort_suite = partialmethod(_sort, "suite")
    action_sort_time = partialmethod(_sort, "time")
    action_sort_cost = partialmethod(_sort, "cost")
    action_sort_tokens = partialmethod(_sort, "tokens")
    action_sort_turns = partialmethod(_sort, "turns")
    action_sort_calls = partialmethod(_sort, "calls")
    action_sort_id = partialmethod(_sort, "id")
    action_sort_repeats = partialmethod(_sort, "repeats")
    action_sort_none = partialmethod(_sort, "")

    def action_sort_reverse(self) -> None:
        self.controller.reverse_order()
        self.listed()
