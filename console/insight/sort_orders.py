"""Orders of a list of rollouts: fixed ones, and by a column that the reader chooses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.rollout import Rollout
from console.insight.rollouts import RolloutList

_SEVERITY = {Outcome.BROKEN: 0, Outcome.UNDECIDED: 1, Outcome.FAILED: 2, None: 3, Outcome.PASSED: 4, Outcome.NOT_RUN: 5}


@dataclass(frozen=True, slots=True)
class SortOrder:
    """One order of a list of rollouts."""

    name: str
    key: Callable[[Rollout], Any]
    goes_to_first: bool = False
    """True if choosing it moves the cursor to the first row."""


RUN_ORDER = SortOrder("all, run order", lambda rollout: rollout.order)
WORST_FIRST = SortOrder("worst first", lambda rollout: (_SEVERITY[rollout.outcome], rollout.order))


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A number of a rollout to sort by; None if it is not known."""

    value: Callable[[Rollout], float | None]
    write: Callable[[float], str]
    """Formats a number, or a difference of two numbers."""


SORT_COLUMNS: Mapping[str, SortColumn] = {
    "time": SortColumn(lambda rollout: rollout.seconds, number_format.duration),
    "cost": SortColumn(lambda rollout: rollout.cost_usd, number_format.money),
    "tokens": SortColumn(lambda rollout: rollout.input_tokens + rollout.output_tokens, number_format.count),
    "turns": SortColumn(lambda rollout: rollout.turn + 1, number_format.count),
}
"""Columns by name; the largest number is first. Lists are also sorted by `id` and by `repeats`."""
BY_ID, BY_REPEATS = "id", "repeats"


@dataclass(frozen=True, slots=True)
class Sorting:
    """The column that a list is sorted by."""

    column: str
    """A key of `SORT_COLUMNS`, `BY_ID` or `BY_REPEATS`."""
    is_reversed: bool = False

    @property
    def is_down(self) -> bool:
        """True if the largest number, or the last of the alphabet, is first."""
        return (self.column not in (BY_ID, BY_REPEATS)) != self.is_reversed

    @property
    def label(self) -> str:
        return f"{self.column} {'↓' if self.is_down else '↑'}"

    def toggled(self, column: str) -> "Sorting":
        """Return the sorting after a column was chosen: choosing it again reverses it."""
        return Sorting(column, is_reversed=self.column == column and not self.is_reversed)

    def sorted(self, rollouts: RolloutList, passes: Mapping[str, tuple[int, int]]) -> RolloutList:
        """Return rollouts in this order; ties keep the run order. `passes` has passed and graded repeats by case."""
        if self.column == BY_ID:
            return rollouts.ordered(lambda rollout: rollout.slot, reverse=self.is_down)
        if self.column == BY_REPEATS:
            shares = {case: passed / played for case, (passed, played) in passes.items() if played}
            return rollouts.ordered(lambda rollout: shares.get(rollout.key.case, 2.0), reverse=self.is_down)
        value = SORT_COLUMNS[self.column].value
        return rollouts.ordered(lambda rollout: self.place(value(rollout)), reverse=self.is_down)

    def place(self, value: float | None) -> tuple[bool, float]:
        """Return the sort key of a number; unknown ones come last."""
        return (value is not None) == self.is_down, value or 0.0

    def shown(self, rollout: Rollout, passes: Mapping[str, tuple[int, int]]) -> str:
        """Return the value by which a rollout is sorted; empty for its id, which is always shown."""
        if self.column == BY_ID:
            return ""
        if self.column == BY_REPEATS:
            passed, played = passes.get(rollout.key.case, (0, 0))
            return f"{passed}/{played}"
        column = SORT_COLUMNS[self.column]
        value = column.value(rollout)
        return "—" if value is None else column.write(value)


def passes_by_case(rollouts: RolloutList) -> dict[str, tuple[int, int]]:
    """Return passed and graded repeats of each case."""
    counts: dict[str, tuple[int, int]] = {}
    for case, kind in zip(rollouts.cases(), rollouts.kinds(), strict=True):
        if kind.outcome in (Outcome.PASSED, Outcome.FAILED):
            passed, played = counts.get(case, (0, 0))
            counts[case] = passed + (kind.outcome is Outcome.PASSED), played + 1
    return counts
