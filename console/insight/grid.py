"""Several runs side by side: one mark for every case and run, those that differ first. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import Observation, sample_of
from console.insight.comparison_side import ComparisonSide
from console.insight.rollout import Slot


@dataclass(frozen=True, slots=True)
class GridRow:
    """One rollout in all runs."""

    slot: Slot
    category: str
    outcomes: tuple[Outcome | None, ...]
    """By run; None where it was not played or has not ended."""
    cluster: str = ""
    """What the case shares with others of the category."""

    @property
    def differs(self) -> bool:
        """Whether graded outcomes of it disagree."""
        return len({outcome for outcome in self.outcomes if outcome and outcome.is_graded}) > 1


@dataclass(frozen=True, slots=True)
class Grid:
    """All rollouts of several runs."""

    sides: tuple[ComparisonSide, ...]
    rows: tuple[GridRow, ...]
    """Rows that differ first, each part in the order of the first run, rollouts of a case together."""

    @property
    def shared(self) -> list[GridRow]:
        """The rollouts that every run has graded."""
        return [row for row in self.rows if all(outcome and outcome.is_graded for outcome in row.outcomes)]

    def rate(self, place: int) -> Interval | None:
        """Return the share that one run passed of what every run has graded; None when there is nothing such."""
        return rate_interval(
            sample_of(
                Observation(row.slot[0], float(row.outcomes[place] is Outcome.PASSED), row.category, row.cluster)
                for row in self.shared
            )
        )


def grid(sides: Sequence[ComparisonSide]) -> Grid:
    """Lay several runs side by side."""
    slots = dict.fromkeys(slot for side in sides for slot in side.graded_slots)
    order = {case: place for place, case in enumerate(dict.fromkeys(case for case, _ in slots))}
    rows = [_row(slot, sides) for slot in sorted(slots, key=lambda slot: (order[slot[0]], slot[1]))]
    return Grid(tuple(sides), tuple(sorted(rows, key=lambda row: not row.differs)))


def _row(slot: Slot, sides: Sequence[ComparisonSide]) -> GridRow:
    rollouts = [side.rollouts.get(slot) for side in sides]
    category = next((rollout.category for rollout in rollouts if rollout), "")
    cluster = next((rollout.cluster for rollout in rollouts if rollout and rollout.cluster), "")
    return GridRow(slot, category, tuple(rollout.outcome if rollout else None for rollout in rollouts), cluster)
