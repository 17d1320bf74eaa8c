"""Several runs side by side: how each did in each category and why, and one mark for every case and run. Pure.

Numbers rest on what every run has graded, so that they compare like with like.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from console.core.case import Slot
from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval, mean_interval, rate_interval
from console.core.statistics.sample import Observation, sample_of
from console.insight.comparison_side import ComparisonSide
from console.insight.reasons import sentence
from console.insight.rollout import Rollout
from console.suites.headline import headline_of


@dataclass(frozen=True, slots=True)
class GridRow:
    """One rollout in all runs."""

    slot: Slot
    category: str
    outcomes: tuple[Outcome | None, ...]
    """By run; None where it was not played or has not ended."""
    cluster: str = ""
    """What the case shares with others of the category."""
    reasons: tuple[str, ...] = ()
    """By run, why it failed, in words; empty where it did not. May hold foreign text."""
    scores: tuple[float | None, ...] = ()
    """By run, the score that stands in place of passing; empty where passing is what counts."""
    title: str = ""
    """What the case is called, where it has a name besides its id. Foreign text."""

    @property
    def differs(self) -> bool:
        """Whether graded outcomes of it, or its scores, disagree."""
        if self.scores:
            return len({score for score in self.scores if score is not None}) > 1
        return len({outcome for outcome in self.outcomes if outcome and outcome.is_graded}) > 1

    @property
    def is_shared(self) -> bool:
        """Whether every run has graded it."""
        graded = all(outcome and outcome.is_graded for outcome in self.outcomes)
        return graded and None not in self.scores

    def points(self, place: int) -> float:
        """Return what a run has of it: its score, else 1 for passing and 0 for not."""
        if self.scores:
            return self.scores[place] or 0.0
        return float(self.outcomes[place] is Outcome.PASSED)


@dataclass(frozen=True, slots=True)
class ReasonCounts:
    """How often each run failed for one reason, of what every run has graded."""

    reason: str
    """In words. May hold foreign text."""
    counts: tuple[int, ...]
    """By run."""

    @property
    def spread(self) -> int:
        """How much the runs differ in it."""
        return max(self.counts) - min(self.counts)


@dataclass(frozen=True)
class Grid:
    """All rollouts of several runs."""

    sides: tuple[ComparisonSide, ...]
    rows: tuple[GridRow, ...]
    """Rows that differ first, each part in the order of the first run, rollouts of a case together."""
    headline: str = ""
    """The score that stands for a rollout in place of passing; empty: passing does."""

    @cached_property
    def shared(self) -> list[GridRow]:
        """The rollouts that every run has graded."""
        return [row for row in self.rows if row.is_shared]

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """All categories by name."""
        return tuple(sorted({row.category for row in self.rows}))

    def of(self, category: str | None) -> list[GridRow]:
        """Return the rollouts of a category; of all with None."""
        return [row for row in self.rows if category is None or row.category == category]

    def rate(self, place: int, category: str | None = None) -> Interval | None:
        """Return what one run has come to, of what every run has graded; None when there is nothing such.

        Args:
            place: the run, counted from 0.
            category: where; None: in all categories together.

        Returns:
            The share that passed, or the mean of the headline score.
        """
        rows = [row for row in self.shared if category is None or row.category == category]
        sample = sample_of(Observation(row.slot[0], row.points(place), row.category, row.cluster) for row in rows)
        return mean_interval(sample) if self.headline else rate_interval(sample)

    def reasons(self, category: str | None = None) -> list[ReasonCounts]:
        """Return why the runs failed what every run has graded, the reasons in which they differ most first.

        Args:
            category: where; None: in all categories together.
        """
        rows = [row for row in self.shared if category is None or row.category == category]
        counts = [Counter(row.reasons[place] for row in rows if row.reasons) for place in range(len(self.sides))]
        names = dict.fromkeys(name for row in rows for name in row.reasons if name)
        made = [ReasonCounts(name, tuple(count[name] for count in counts)) for name in names]
        return sorted(made, key=lambda each: (-each.spread, -sum(each.counts)))


def grid(sides: Sequence[ComparisonSide]) -> Grid:
    """Put several runs side by side."""
    headline = _headline(sides)
    slots = dict.fromkeys(slot for side in sides for slot in side.graded_slots)
    order = {case: place for place, case in enumerate(dict.fromkeys(case for case, _ in slots))}
    rows = [_row(slot, sides, headline) for slot in sorted(slots, key=lambda slot: (order[slot[0]], slot[1]))]
    return Grid(tuple(sides), tuple(sorted(rows, key=lambda row: not row.differs)), headline)


def _headline(sides: Sequence[ComparisonSide]) -> str:
    """Return the score that stands for a rollout in place of passing, if every run has it."""
    names = [{name for rollout in side.rollouts.values() for name in rollout.scores} for side in sides]
    in_all = {name for some in names for name in some if all(name in other for other in names)}
    return headline_of(in_all, *(side.manifest.headline for side in sides))


def _row(slot: Slot, sides: Sequence[ComparisonSide], headline: str) -> GridRow:
    rollouts = [side.rollouts.get(slot) for side in sides]
    played = [rollout for rollout in rollouts if rollout]
    return GridRow(
        slot,
        next((rollout.category for rollout in played), ""),
        tuple(rollout.outcome if rollout else None for rollout in rollouts),
        next((rollout.cluster for rollout in played if rollout.cluster), ""),
        tuple(_reason(rollout) for rollout in rollouts),
        tuple(rollout.scores.get(headline) if rollout else None for rollout in rollouts) if headline else (),
        next((rollout.title for rollout in played if rollout.title), ""),
    )


def _reason(rollout: Rollout | None) -> str:
    if rollout is None or rollout.outcome is not Outcome.FAILED:
        return ""
    return sentence(rollout.reason, rollout.subject, rollout.outcome)
