"""Several runs side by side: one mark for every case and run, those that differ first. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.core.outcome import Outcome
from console.insight.comparison_side import ComparisonSide
from console.insight.rollout import Slot


@dataclass(frozen=True, slots=True)
class GridRow:
    """One rollout in all runs."""

    slot: Slot
    category: str
    outcomes: tuple[Outcome | None, ...]
    """By run; None where it was not played or has not ended."""

    @property
    def differs(self) -> bool:
        """Whether graded outcomes of it disagree."""
        return len({outcome for outcome in self.outcomes if outcome and outcome.is_graded}) > 1


@dataclass(frozen=True, slots=True)
class Grid:
    """All rollouts of several runs."""

    sides: tuple[ComparisonSide, ...]
    rows: tuple[GridRow, ...]
    """Rows that differ first, each part in the order of the first run."""

    def passed(self, place: int) -> tuple[int, int]:
        """Return passed and graded rollouts of one run among those that every run has graded."""
        shared = [row for row in self.rows if all(outcome and outcome.is_graded for outcome in row.outcomes)]
        return sum(row.outcomes[place] is Outcome.PASSED for row in shared), len(shared)


def grid(sides: Sequence[ComparisonSide]) -> Grid:
    """Lay several runs side by side."""
    slots = dict.fromkeys(slot for side in sides for slot in side.graded_slots)
    rows = [_row(slot, sides) for slot in slots]
    return Grid(tuple(sides), tuple(sorted(rows, key=lambda row: not row.differs)))


def _row(slot: Slot, sides: Sequence[ComparisonSide]) -> GridRow:
    rollouts = [side.rollouts.get(slot) for side in sides]
    category = next((rollout.category for rollout in rollouts if rollout), "")
    return GridRow(slot, category, tuple(rollout.outcome if rollout else None for rollout in rollouts))
