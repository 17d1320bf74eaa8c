"""What a format says of its leaderboard: the numbers of a model's row, which one ranks, and what sums up what.

The rules are pure and see only what lists know of runs (counts by category, mean scores), so that a leaderboard needs
no journal; a format with columns that only journals hold says how to measure them. A benchmark offers its
rules by its face, a suite of its own code by `Suite.leaderboard`; `leaderboard_rules` finds them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from console.core.record import AnyRecord
from console.core.run import Tally
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import Sample, sample_of_counts

NOT_PLAYED = "N/A"
INCOMPLETE = "incomplete"
"""How the note of a number begins that rests on fewer cases than the data has."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a row."""

    value: float | None
    """None: not played."""
    low: float | None = None
    """95 % interval, where one can be given."""
    high: float | None = None
    count: int = 0
    """Rollouts it rests on."""
    cases: int = 0
    """Cases and clusters it rests on; 0 for a number without interval."""
    clusters: int = 0
    method: str = ""
    """How the interval was made; empty without one."""
    unit: str = "rate"
    """`rate` (0 to 1), `mean`, or `plain`: a number that has no interval."""
    note: str = ""
    """`N/A`, `incomplete`, or how many inferences failed."""


MISSING = Cell(None, note=NOT_PLAYED)


@dataclass(frozen=True, slots=True)
class Played:
    """What counts of one model on one suite."""

    tallies: Mapping[str, Tally]
    """Counts by category."""
    cases: Mapping[str, int]
    """How many cases each category of the data has; empty: the suite is not there any more."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """Means of the named scores of the newest run that counts."""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class DetailTable:
    """Columns that stand together in the details of a row."""

    title: str
    labels: Mapping[str, str]
    """What each column is called in this table, in order."""


class LeaderboardRules(Protocol):
    """How the models of one format are ranked. Stateless and pure."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in order, the ranking one first; empty: those that were played."""
        ...

    @property
    def sums(self) -> tuple[str, ...]:
        """The columns that sum up others and are shown before them, the ranking one first; empty: there are none."""
        ...

    @property
    def details(self) -> tuple[DetailTable, ...]:
        """What is behind the sums."""
        ...

    @property
    def headings(self) -> Mapping[str, str]:
        """What the app calls some columns; the others, and all on the command line, are called by their name."""
        ...

    @property
    def score(self) -> str:
        """The mean score that ranks, of each model's newest run; empty: rates do, of several runs together.

        Rules apply only if this is the `headline` of the suite; otherwise the default ranking is used.
        """
        ...

    def fits(self, categories: Collection[str]) -> bool:
        """Whether runs with these categories can be ranked so."""
        ...

    def counts(self, category: str) -> bool:
        """Whether a category enters; not one that only prepares others."""
        ...

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the numbers of a row by column."""
        ...

    def remarks(self, cells: Mapping[str, Cell]) -> list[str]:
        """Return what must be known of a row's numbers, a sentence each: what is missing, what counts otherwise."""
        ...


@runtime_checkable
class MeasuresJournals(Protocol):
    """Rules with columns that only journals hold."""

    def measure(self, records: Iterable[AnyRecord]) -> Any:
        """Return what one journal adds."""
        ...

    def combine(self, measured: Sequence[Any]) -> dict[str, float]:
        """Return the numbers by column from what the journals of a row add; what is not known is left out."""
        ...


class PassRates:
    """Rank by the share of rollouts that passed; one column for each category."""

    columns: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    details: tuple[DetailTable, ...] = ()
    headings: Mapping[str, str] = {}
    score = ""

    def fits(self, categories: Collection[str]) -> bool:
        """Any categories do."""
        del categories
        return True

    def counts(self, category: str) -> bool:
        """All of them."""
        del category
        return True

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the rate over everything, then that of each category."""
        tallies = played.tallies.values()
        whole = sample_of_counts(*(tally.counts for tally in tallies))
        cells = {"passed": rate_cell(whole, sum(played.cases.values()), without_grade(tallies))}
        for name, tally in played.tallies.items():
            cells[name] = rate_cell(tally.sample, played.cases.get(name, 0), without_grade([tally]))
        return cells

    def remarks(self, cells: Mapping[str, Cell]) -> list[str]:
        """Return the notes of all numbers."""
        return notes_of(cells)


@dataclass(frozen=True)
class ScoreMeans:
    """Rank by the mean of a score, as of loops that nobody passes or fails; the other scores follow."""

    score: str
    headings: Mapping[str, str] = field(default_factory=dict[str, str])
    columns: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    details: tuple[DetailTable, ...] = ()

    def fits(self, categories: Collection[str]) -> bool:
        """Any categories do."""
        del categories
        return True

    def counts(self, category: str) -> bool:
        """All of them."""
        del category
        return True

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return the means, the ranking one first."""
        graded = sum(tally.graded for tally in played.tallies.values())
        cases, counted = (
            sum(played.cases.values()),
            sample_of_counts(*(tally.counts for tally in played.tallies.values())),
        )
        gap = f"{INCOMPLETE}: {counted.cases} of {cases}" if counted.cases < cases else ""
        note = "; ".join(filter(None, (gap, without_grade(played.tallies.values()))))
        names = [self.score, *(name for name in played.scores if name != self.score)]
        return {
            name: Cell(played.scores[name], count=graded, unit="mean", note=note if name == self.score else "")
            for name in names
            if name in played.scores
        }

    def remarks(self, cells: Mapping[str, Cell]) -> list[str]:
        """Return the notes of all numbers."""
        return notes_of(cells)


def rate_cell(sample: Sample, cases: int, note: str = "") -> Cell:
    """Return a rate with its interval; its note begins by saying so when fewer were counted than the data has."""
    interval = rate_interval(sample)
    if interval is None:
        return MISSING
    gap = f"{INCOMPLETE}: {sample.cases} of {cases}" if sample.cases < cases else ""
    return interval_cell(interval, note="; ".join(filter(None, (gap, note))))


def interval_cell(interval: Interval, *, unit: str = "rate", note: str = "") -> Cell:
    """Return an interval as a number of a row; its note says when not to believe it."""
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
    """Return the interval of a number that has one."""
    return Interval(cell.value or 0.0, cell.low, cell.high, cell.cases, cell.count, cell.clusters, cell.method)


def without_grade(tallies: Iterable[Tally]) -> str:
    """Say how many rollouts ended without a grade; empty when all have one."""
    count = sum(tally.broken + tally.undecided for tally in tallies)
    return f"{count} without a grade" if count else ""


def notes_of(cells: Mapping[str, Cell]) -> list[str]:
    """Return the notes of the numbers that are there, with their columns."""
    return [f"{name}: {cell.note}" for name, cell in cells.items() if cell.value is not None and cell.note]
