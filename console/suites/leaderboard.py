"""Leaderboard rules of a format: the columns of a model's row, the ranking one, and aggregate columns.

Rules are pure functions of run summaries (counts by category, mean scores), so most leaderboards read no journals;
`MeasuresJournals` is for the others. A benchmark declares its rules in `Benchmark`, a suite in `Suite.leaderboard`;
`leaderboard_rules` looks them up.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from console.core.case import Setting
from console.core.names import first_few
from console.core.record import AnyRecord
from console.core.run import Tally
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import Sample, sample_of_counts
from console.suites.headline import LACKS_CATEGORIES

NOT_PLAYED = "N/A"
INCOMPLETE = "incomplete"
"""Prefix of the note for a number based on only some of the cases."""
STAR = "*"
"""Mark of such a number."""
INCOMPLETE_WORDS = "incomplete: fewer cases than the suite has; such rows are not ranked"
"""Meaning of the mark."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a row."""

    value: float | None
    """The number; None if nothing was played."""
    low: float | None = None
    """95 % interval, if there is one."""
    high: float | None = None
    count: int = 0
    """Number of rollouts."""
    cases: int = 0
    """Number of cases; 0 if there is no interval. `clusters` is likewise 0."""
    clusters: int = 0
    method: str = ""
    """Method of the interval; empty if there is none."""
    unit: str = "rate"
    """`rate` (0 to 1), `mean`, or `plain` (no interval)."""
    note: str = ""
    """Remark on the number, such as `N/A`, `incomplete`, or the number of failed inferences."""

    @property
    def is_incomplete(self) -> bool:
        """True if it is based on only some of the cases, which keeps it from being ranked."""
        return self.note.startswith(INCOMPLETE)

    @property
    def missing(self) -> str:
        """Text in place of a missing number of a played row: `— (2 of 21)`. Untrusted text."""
        return f"— ({self.note.removesuffix(LACKS_CATEGORIES)})"

    @property
    def gap(self) -> str:
        """Sentence on the categories that an official number lacks; empty if it lacks none."""
        played, _, needed = self.note.partition(" of ")
        is_lacking = self.value is None and self.note.endswith(LACKS_CATEGORIES)
        return f"the official score needs {needed}, the results have {played}" if is_lacking else ""

    @property
    def star(self) -> str:
        """Mark of an incomplete number; empty for others."""
        return STAR if self.is_incomplete else ""

    @property
    def is_played(self) -> bool:
        """True if there are results, even if they give no number."""
        return self.value is not None or self.note not in ("", NOT_PLAYED)


MISSING = Cell(None, note=NOT_PLAYED)


@dataclass(frozen=True, slots=True)
class Played:
    """The counted results of one model on one suite."""

    tallies: Mapping[str, Tally]
    """Counts by category."""
    cases: Mapping[str, int]
    """Cases by category in the data; empty if the suite no longer exists."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """Mean scores of the newest counted run."""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class DetailTable:
    """A table of columns in the details of a row."""

    title: str
    labels: Mapping[str, str]
    """Heading by column, in order."""


class LeaderboardRules(ABC):
    """Ranking of the models of one format. Stateless and pure."""

    columns: tuple[str, ...] = ()
    """All columns in order, the ranking one first; empty for the categories with results."""
    sums: tuple[str, ...] = ()
    """Aggregate columns, shown first, with the ranking one at the start."""
    details: tuple[DetailTable, ...] = ()
    """Tables of the columns behind the aggregates."""
    headings: Mapping[str, str] = MappingProxyType({})
    """Heading of each column in the app; by default, and on the command line, the column's name."""
    score: str = ""
    """Name of the ranking score, from each model's newest run; empty if pooled pass rates rank.

    These rules apply only if it is the suite's `headline` too; otherwise the default ranking is used.
    """
    is_count: bool = False
    """True if the ranking score is a count, whose values of 0 and 1 do not make it a rate."""
    legend: str = ""
    """Reason for ranking by another number than expected; empty if the expected one is used."""

    def misfit(self, categories: Collection[str]) -> str:
        """Return the reason that the rules do not apply to a suite with these categories; empty if they do."""
        del categories
        return ""

    def counts(self, category: str) -> bool:
        """Return whether a category counts, which excludes those of setup cases."""
        del category
        return True

    @abstractmethod
    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the cells of a row by column."""

    def remarks(self, cells: Mapping[str, Cell]) -> list[str]:
        """Return notes on a row, one sentence each, such as missing categories; default: those of all cells."""
        return notes_of(cells)


class MeasuresJournals(LeaderboardRules):
    """Rules with columns computed from journals."""

    @abstractmethod
    def measure(self, records: Iterable[AnyRecord]) -> Any:
        """Measure one journal."""

    @abstractmethod
    def combine(self, measured: Sequence[Any]) -> dict[str, float]:
        """Combine the measurements of a row's journals to values by column; omit unknown ones."""


class RanksPlayers(LeaderboardRules):
    """Rules for runs that compare several players, each of which is a row; all numbers come from journals."""

    def cells(self, played: Played) -> dict[str, Cell]:
        del played
        return {}

    @abstractmethod
    def players(self, setting: Setting) -> Sequence[str]:
        """Return the display names of a run's players."""

    @abstractmethod
    def measure(self, records: Iterable[AnyRecord]) -> Any:
        """Measure one journal."""

    @abstractmethod
    def cells_of_players(self, measured: Sequence[tuple[Sequence[str], Any]]) -> Mapping[str, Mapping[str, Cell]]:
        """Return the cells of each player, from the players and measurements of each run."""


class PassRates(LeaderboardRules):
    """Ranking by pass rate, with one column per category."""

    def __init__(self, legend: str = "", first: Sequence[str] = ()) -> None:
        """Rank by pass rate.

        Args:
            legend: reason for this ranking, if another one is expected.
            first: scores of the newest run whose columns follow the pass rate.
        """
        self.legend, self._first = legend, first

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the overall pass rate, additional headlines, then the rate of each category."""
        tallies = played.tallies.values()
        whole = sample_of_counts(*(tally.counts for tally in tallies))
        cells = {"passed": rate_cell(whole, sum(played.cases.values()), without_grade(tallies))}
        for name in self._first:
            if name in played.scores:
                cells[name] = Cell(played.scores[name], count=sum(tally.graded for tally in tallies), unit="mean")
        for name, tally in played.tallies.items():
            cells[name] = rate_cell(tally.sample, played.cases.get(name, 0), without_grade([tally]))
        return cells


class ScoreMeans(LeaderboardRules):
    """Ranking by a mean score, for rollouts without pass or fail; other scores follow."""

    def __init__(
        self,
        score: str,
        headings: Mapping[str, str] | None = None,
        first: Sequence[str] = (),
        *,
        is_count: bool = False,
    ) -> None:
        """Rank by a score; `first` names the scores whose columns follow it."""
        self.score, self.headings, self.is_count, self._first = score, headings or {}, is_count, first

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the mean scores, the ranking one first."""
        graded = sum(tally.graded for tally in played.tallies.values())
        cases, counted = (
            sum(played.cases.values()),
            sample_of_counts(*(tally.counts for tally in played.tallies.values())),
        )
        gap = f"{INCOMPLETE}: {counted.cases} of {cases}" if counted.cases < cases else ""
        note = "; ".join(filter(None, (gap, without_grade(played.tallies.values()))))
        names = dict.fromkeys((self.score, *self._first, *played.scores))
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


def with_basis(cell: Cell, scored: int | None, graded: int) -> Cell:
    """Return the cell of a score, marked as incomplete if only `scored` of the graded rollouts have it (None: all)."""
    if scored is None or cell.value is None:
        return cell
    note = f"{INCOMPLETE}: only {scored} of {graded} graded rollouts have this score"
    return replace(cell, note="; ".join(filter(None, (note, cell.note))))


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
    """Return the notes of cells with a value, each with its columns."""
    names: dict[str, list[str]] = {}
    for name, cell in cells.items():
        if cell.value is not None and cell.note:
            names.setdefault(cell.note, []).append(name)
    return [f"{first_few(noted)}: {note}" for note, noted in names.items()]
