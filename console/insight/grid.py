"""Several runs side by side: rates and reasons by category, and one mark per case and run. Pure.

Numbers cover only rollouts graded in every run.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from console.core.case import Slot
from console.core.outcome import Outcome
from console.core.statistics.intervals import Interval, rate_interval, score_interval
from console.core.statistics.sample import Observation, sample_of
from console.insight.comparison_side import ComparisonSide, shared_repeats
from console.insight.reasons import sentence
from console.insight.rollout import Rollout
from console.suites.headline import headline_of


@dataclass(frozen=True, slots=True)
class GridRow:
    """One rollout in all runs."""

    slot: Slot
    category: str
    outcomes: tuple[Outcome | None, ...]
    """By run; None if not played or not finished."""
    cluster: str = ""
    """Cluster of the case; cases of one cluster are not independent."""
    reasons: tuple[str, ...] = ()
    """Failure reason as text, by run; empty if it did not fail. May contain untrusted text."""
    scores: tuple[float | None, ...] = ()
    """Headline score by run; empty if passing is compared."""
    title: str = ""
    """Name of the case, if it has one in addition to its id. Untrusted text."""

    @property
    def differs(self) -> bool:
        """True if its graded outcomes or its scores disagree."""
        if self.scores:
            return len({score for score in self.scores if score is not None}) > 1
        return len({outcome for outcome in self.outcomes if outcome and outcome.is_graded}) > 1

    @property
    def is_shared(self) -> bool:
        graded = all(outcome and outcome.is_graded for outcome in self.outcomes)
        return graded and None not in self.scores

    def points(self, place: int) -> float:
        """Return a run's score or, if it has none, 1 for passing and 0 for not passing."""
        if self.scores:
            return self.scores[place] or 0.0
        return float(self.outcomes[place] is Outcome.PASSED)


@dataclass(frozen=True, slots=True)
class GridCase:
    """One case in all runs, with its repeats."""

    repeats: tuple[GridRow, ...]
    is_repeat: bool = False
    """True for one repeat of a case, listed below it."""

    @property
    def each_repeat(self) -> "list[GridCase]":
        """Its repeats as rows of their own; empty for a case that was played once."""
        return [GridCase((row,), is_repeat=True) for row in self.repeats] if len(self.repeats) > 1 else []

    def passed(self, place: int) -> tuple[int, int]:
        """Return the numbers of passed and of graded repeats in a run."""
        outcomes = [row.outcomes[place] for row in self.repeats]
        graded = [outcome for outcome in outcomes if outcome and outcome.is_graded]
        return graded.count(Outcome.PASSED), len(graded)

    def points(self, place: int) -> float:
        """Return the sum of a run's scores or, without scores, the number of passed repeats."""
        return sum(row.points(place) for row in self.repeats)

    @property
    def differs(self) -> bool:
        """True if the runs that graded it pass different shares of its repeats, or have different scores."""
        if len(self.repeats) == 1 or self.repeats[0].scores:
            return any(row.differs for row in self.repeats)
        counts = [self.passed(place) for place in range(len(self.repeats[0].outcomes))]
        counted = [(passed, graded) for passed, graded in counts if graded]
        return any(passed * counted[0][1] != counted[0][0] * graded for passed, graded in counted)

    @property
    def telling(self) -> GridRow:
        """The first repeat that differs, or else the first."""
        return next((row for row in self.repeats if row.differs), self.repeats[0])

    @property
    def slot(self) -> Slot:
        return self.telling.slot

    def shown_in(self, place: int) -> GridRow:
        """Return the repeat that stands for the case in a run: `telling`, or the first that the run has finished."""
        played = (row for row in (self.telling, *self.repeats) if row.outcomes[place] is not None)
        return next(played, self.telling)

    def reason_in(self, place: int) -> str:
        """Return why the case failed in a run: the reason of the repeat that stands for it, or of any other."""
        rows = (self.shown_in(place), *self.repeats)
        return next((row.reasons[place] for row in rows if row.reasons and row.reasons[place]), "")


@dataclass(frozen=True, slots=True)
class ReasonCounts:
    """Failed cases by run for one reason, over the rollouts graded in every run."""

    reason: str
    """The reason as text. May contain untrusted text."""
    counts: tuple[int, ...]
    """Number of failed cases by run; a case counts once for each of its reasons."""

    @property
    def spread(self) -> int:
        """Difference between the largest and the smallest count."""
        return max(self.counts) - min(self.counts)


@dataclass(frozen=True)
class Grid:
    """All rollouts of several runs."""

    sides: tuple[ComparisonSide, ...]
    rows: tuple[GridRow, ...]
    """Rows that differ first, each part in the order of the first run, repeats of a case together."""
    headline: str = ""
    """Name of the compared score; empty if passing is compared."""

    @cached_property
    def shared(self) -> list[GridRow]:
        """Rollouts graded in every run."""
        return [row for row in self.rows if row.is_shared]

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """All categories, sorted; those without a rollout graded in every run come last."""
        shared = {row.category for row in self.shared}
        return tuple(sorted({row.category for row in self.rows}, key=lambda name: (name not in shared, name)))

    def of(self, category: str | None) -> list[GridCase]:
        """Return the cases of a category, or all cases if it is None."""
        return [case for case in self.cases if category is None or case.repeats[0].category == category]

    @cached_property
    def cases(self) -> tuple[GridCase, ...]:
        """All cases, those that differ first."""
        by_case: dict[str, list[GridRow]] = {}
        for row in self.rows:
            by_case.setdefault(row.slot[0], []).append(row)
        cases = [GridCase(tuple(sorted(rows, key=lambda row: row.slot[1]))) for rows in by_case.values()]
        return tuple(sorted(cases, key=lambda case: not case.differs))

    def rate(self, place: int, category: str | None = None) -> Interval | None:
        """Return a run's pass rate or mean headline score over a category's shared rollouts; None if it has none."""
        rows = [row for row in self.shared if category is None or row.category == category]
        sample = sample_of(Observation(row.slot[0], row.points(place), row.category, row.cluster) for row in rows)
        return score_interval(sample, self._scale) if self.headline else rate_interval(sample)

    @property
    def basis(self) -> str:
        """Numbers of cases and repeats behind each run's `rate`, as text."""
        rate, count = self.rate(0), str(len(self.shared))
        cases = f"{rate.cases} cases, {count} rollouts" if rate is not None and rate.rollouts > rate.cases else count
        repeats = shared_repeats(self.sides)
        return f"{cases} ({repeats})" if repeats else cases

    @property
    def unit(self) -> str:
        """Unit of the headline score; empty if there is none, or if the runs do not agree on one."""
        units = {side.manifest.units.get(self.headline, "") for side in self.sides}
        return units.pop() if len(units) == 1 else ""

    @property
    def _scale(self) -> tuple[float, float] | None:
        """Scale of the headline score; None if the runs do not agree on one."""
        scales = {side.manifest.headline_scale for side in self.sides if side.manifest.headline == self.headline}
        return scales.pop() if len(scales) == 1 else None

    def reasons(self, category: str | None = None) -> list[ReasonCounts]:
        """Return the failure reasons in the shared rollouts of a category, largest difference between runs first."""
        rows = [row for row in self.shared if category is None or row.category == category]
        failed = {(place, row.slot[0], name) for row in rows for place, name in enumerate(row.reasons) if name}
        counts = [Counter(name for of, _, name in failed if of == place) for place in range(len(self.sides))]
        names = dict.fromkeys(name for row in rows for name in row.reasons if name)
        reasons = [ReasonCounts(name, tuple(count[name] for count in counts)) for name in names]
        return sorted(reasons, key=lambda each: (-each.spread, -sum(each.counts)))


def grid(sides: Sequence[ComparisonSide]) -> Grid:
    """Build the grid of several runs."""
    headline = _headline(sides)
    slots = dict.fromkeys(slot for side in sides for slot in side.graded_slots)
    order = {case: place for place, case in enumerate(dict.fromkeys(case for case, _ in slots))}
    rows = [_row(slot, sides, headline) for slot in sorted(slots, key=lambda slot: (order[slot[0]], slot[1]))]
    return Grid(tuple(sides), tuple(sorted(rows, key=lambda row: not row.differs)), headline)


def _headline(sides: Sequence[ComparisonSide]) -> str:
    """Return the score compared in place of passing, if every run has it."""
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
