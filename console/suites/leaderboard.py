"""Leaderboard rules of a format: the columns of a model's row, the ranking one, and aggregate columns.

Rules are pure functions of run summaries (counts by category, mean scores), so most leaderboards read no journals;
`MeasuresJournals` is for the others. A benchmark declares its rules in `Benchmark`, a suite in `Suite.leaderboard`;
`leaderboard_rules` looks them up.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from console.core.case import Setting
from console.core.record import AnyRecord
from console.core.run import Tally
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import Sample, sample_of_counts

NOT_PLAYED = "N/A"
INCOMPLETE = "incomplete"
"""Prefix of the note for a number based on only some of the cases."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a row."""

    value: float | None
    """None: not played."""
    low: float | None = None
    """95 % interval, if there is one."""
    high: float | None = None
    count: int = 0
    """Number of rollouts."""
    cases: int = 0
    """Number of cases, and below of clusters; 0 without an interval."""
    clusters: int = 0
    method: str = ""
    """Method of the interval; empty without one."""
    unit: str = "rate"
    """`rate` (0 to 1), `mean`, or `plain` (no interval)."""
    note: str = ""
    """Such as `N/A`, `incomplete`, or the number of failed inferences."""


MISSING = Cell(None, note=NOT_PLAYED)


@dataclass(frozen=True, slots=True)
class Played:
    """The counted results of one model on one suite."""

    tallies: Mapping[str, Tally]
    """Counts by category."""
    cases: Mapping[str, int]
    """Cases by category in the data; empty: the suite no longer exists."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """Mean scores of the newest counted run."""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class DetailTable:
    """A table of columns in the details of a row."""

    title: str
    labels: Mapping[str, str]
    """Heading by column, in order."""


class LeaderboardRules(Protocol):
    """Ranking of the models of one format. Stateless and pure."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in order, the ranking one first; empty: the categories with results."""
        ...

    @property
    def sums(self) -> tuple[str, ...]:
        """Aggregate columns, shown first, with the ranking one at the start; may be empty."""
        ...

    @property
    def details(self) -> tuple[DetailTable, ...]:
        """Tables of the columns behind the aggregates."""
        ...

    @property
    def headings(self) -> Mapping[str, str]:
        """Heading in the app by column; default, and on the command line: the column's name."""
        ...

    @property
    def score(self) -> str:
        """Name of the ranking score, from each model's newest run; empty: pooled pass rates rank.

        These rules apply only if it is the suite's `headline` too; otherwise the default ranking is used.
        """
        ...

    @property
    def legend(self) -> str:
        """Reason why another number than the expected one ranks; empty if the expected one does."""
        ...

    def misfit(self, categories: Collection[str]) -> str:
        """Return the reason that the rules do not apply to a suite with these categories; empty if they do."""
        ...

    def counts(self, category: str) -> bool:
        """Return whether a category counts, which excludes those of setup cases."""
        ...

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the cells of a row by column."""
        ...

    def remarks(self, cells: Mapping[str, Cell]) -> list[str]:
        """Return notes on a row, one sentence each, such as missing categories."""
        ...


@runtime_checkable
class MeasuresJournals(Protocol):
    """Rules with columns computed from journals."""

    def measure(self, records: Iterable[AnyRecord]) -> Any:
        """Measure one journal."""
        ...

    def combine(self, measured: Sequence[Any]) -> dict[str, float]:
        """Combine the measurements of a row's journals to values by column; omit unknown ones."""
        ...


@runtime_checkable
class RanksPlayers(LeaderboardRules, Protocol):
    """Rules for runs that compare several players, each of which is a row; all numbers come from journals."""

    def players(self, setting: Setting) -> Sequence[str]:
        """Return the display names of a run's players."""
        ...

    def measure(self, records: Iterable[AnyRecord]) -> Any:
        """Measure one journal."""
        ...

    def cells_of_players(self, measured: Sequence[tuple[Sequence[str], Any]]) -> Mapping[str, Mapping[str, Cell]]:
        """Return the cells of each player, from the players and measurements of each run."""
        ...


class AnyCategories:
    """Rules that apply to any categories and count all of them."""

    def misfit(self, categories: Collection[str]) -> str:
        """Accept any categories."""
        del categories
        return ""

    def counts(self, category: str) -> bool:
        """Count all categories."""
        del category
        return True

    def remarks(self, cells: Mapping[str, Cell]) -> list[str]:
        """Return the notes of all cells."""
        return notes_of(cells)


class PassRates(AnyCategories):
    """Ranking by pass rate, with one column per category."""

    columns: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    details: tuple[DetailTable, ...] = ()
    headings: Mapping[str, str] = MappingProxyType({})
    score = ""

    def __init__(self, legend: str = "", first: Sequence[str] = ()) -> None:
        """Rank by pass rate.

        Args:
            legend: why, where another ranking is expected.
            first: scores of the newest run whose columns follow the pass rate.
        """
        self.legend, self._first = legend, first

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the overall pass rate, further headlines, then the rate of each category."""
        tallies = played.tallies.values()
        whole = sample_of_counts(*(tally.counts for tally in tallies))
        cells = {"passed": rate_cell(whole, sum(played.cases.values()), without_grade(tallies))}
        for name in self._first:
            if name in played.scores:
                cells[name] = Cell(played.scores[name], count=sum(tally.graded for tally in tallies), unit="mean")
        for name, tally in played.tallies.items():
            cells[name] = rate_cell(tally.sample, played.cases.get(name, 0), without_grade([tally]))
        return cells


@dataclass(frozen=True)
class ScoreMeans(AnyCategories):
    """Ranking by a mean score, for rollouts without pass or fail; other scores follow."""

    score: str
    headings: Mapping[str, str] = field(default_factory=dict[str, str])
    columns: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    details: tuple[DetailTable, ...] = ()
    legend: str = ""
    first: tuple[str, ...] = ()
    """Scores whose columns follow the ranking one."""

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the mean scores, the ranking one first."""
        graded = sum(tally.graded for tally in played.tallies.values())
        cases, counted = (
            sum(played.cases.values()),
            sample_of_counts(*(tally.counts for tally in played.tallies.values())),
        )
        gap = f"{INCOMPLETE}: {counted.cases} of {cases}" if counted.cases < cases else ""
        note = "; ".join(filter(None, (gap, without_grade(played.tallies.values()))))
        names = dict.fromkeys((self.score, *self.first, *played.scores))
        return {
            name: Cell(played.scores[name], count=graded, unit="mean", note=note if name == self.score else "")
            for name in names
            if name in played.scores
        }


def rate_cell(sample: Sample, cases: int, note: str = "") -> Cell:
    """Return a pass rate with its interval, and a note if it covers fewer than `cases` cases."""
    interval = rate_interval(sample)
    if interval is None:
        return MISSING
    gap = f"{INCOMPLETE}: {sample.cases} of {cases}" if sample.cases < cases else ""
    return interval_cell(interval, note="; ".join(filter(None, (gap, note))))


def interval_cell(interval: Interval, *, unit: str = "rate", note: str = "") -> Cell:
    """Return an interval as a cell, with its caution in the note."""
    return Cell(
        value=interval.value,
        low=interval.low,
        high=interval.high,
        count=interval.rollouts,
        cases=interval.cases,
        clusters=interval.clusters,
        method=interval.method,
        unit=unit,
        note="; ".join(filter(None, (note, interval.caution))),
    )


def cell_interval(cell: Cell) -> Interval:
    """Return the interval of a cell."""
    return Interval(cell.value or 0.0, cell.low, cell.high, cell.cases, cell.count, cell.clusters, cell.method)


def without_grade(tallies: Iterable[Tally]) -> str:
    """Return a note on the rollouts without a grade, or an empty string."""
    count = sum(tally.broken + tally.undecided for tally in tallies)
    return f"{count} without a grade" if count else ""


def notes_of(cells: Mapping[str, Cell]) -> list[str]:
    """Return the notes of cells with a value, each with its column."""
    return [f"{name}: {cell.note}" for name, cell in cells.items() if cell.value is not None and cell.note]
