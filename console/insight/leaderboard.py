"""The leaderboard over all runs: one row for each model (and mode) of a suite, with an interval beside every rate.

Only runs that came to their end count, and never runs that asked chosen cases again. For each category the run with
most finished rollouts counts, the latest of equals, so that a quick look at three cases does not hide a whole run;
runs over other data than the newest are left out. BFCL columns follow the official formula and structure: missing
categories count as 0, and everything that rests on fewer entries than the data has is called incomplete. Pure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from console.core.run import Tally
from console.insight.comparison import HEADLINES
from console.insight.statistics import bootstrap_mean
from console.insight.trends import KnownRun
from console.suites.bfcl import categories as names
from console.suites.bfcl.aggregate import INCOMPLETE, NUMBER_WITH_GAPS, PARTS, Accuracy, Standing, gaps, interval
from console.suites.rates import wilson

Entries = Mapping[str, Mapping[str, int]]
"""Number of cases of each category, by suite; suites that are not there any more are missing."""
NOT_PLAYED = "N/A"

BFCL_SPENT = ("cost_usd", "latency_mean_s", "latency_stdev_s", "latency_p95_s")
BFCL_FORMATS = ("format_max_delta", "format_stdev")
BFCL_COLUMNS = (
    *("overall", "non_live", "simple", *names.NON_LIVE[:6], "live", *names.LIVE[:4]),
    *("multi_turn", *names.MULTI_TURN, "agentic", "web_search", *names.WEB_SEARCH, "memory", *names.MEMORY),
    *("relevance", "all_irrelevance", "irrelevance", "live_irrelevance", *BFCL_FORMATS, *BFCL_SPENT),
)
"""In the order of the official summary table, but cost and latency last."""
BFCL_GROUPS = ("overall", "non_live", "live", "multi_turn", "agentic", "relevance", "all_irrelevance")
"""The columns that sum up others."""
BFCL_TABLES = {
    "non live": ("simple", *names.NON_LIVE[:6]),
    "live": names.LIVE[:4],
    "multi turn": names.MULTI_TURN,
    "agentic": ("web_search", *names.WEB_SEARCH, "memory", *names.MEMORY),
    "relevance": ("relevance", "irrelevance", "live_irrelevance"),
    "formats": BFCL_FORMATS,
    "spent": BFCL_SPENT,
}
"""What is behind the sums, by official table."""
_COLUMN_OF = {"irrelevance": "all_irrelevance"}
"""Columns of sums that are called like a category of their own."""


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
    unit: str = "rate"
    """`rate` (0 to 1), `mean`, or `plain`: a number that has no interval."""
    note: str = ""
    """`N/A`, `incomplete`, or how many inferences failed."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One model on one suite."""

    model: str
    mode: str
    simulated: bool
    at: float
    """When the newest of its runs began."""
    runs: tuple[str, ...]
    """Ids of the runs that count, newest first."""
    cells: dict[str, Cell]
    cost_usd: float
    cost_unknown: int

    def headline(self, board: "Board") -> Cell:
        """Return the number that ranks it."""
        return self.cells[board.columns[0]]


@dataclass(frozen=True, slots=True)
class Board:
    """All models on one suite, the best first, those without a number last."""

    suite: str
    columns: tuple[str, ...]
    """The first one ranks."""
    rows: tuple[BoardRow, ...]


def leaderboards(runs: Iterable[KnownRun], entries: Entries) -> list[Board]:
    """Return a board for every suite, in the order of names."""
    by_suite: dict[str, list[KnownRun]] = defaultdict(list)
    for run in runs:
        if run.summary.state == "completed" and not run.manifest.parent and run.summary.tally.finished:
            by_suite[run.summary.suite].append(run)
    return [_board(suite, found, entries.get(suite, {})) for suite, found in sorted(by_suite.items())]


def _board(suite: str, runs: Sequence[KnownRun], entries: Mapping[str, int]) -> Board:
    groups: dict[tuple[str, str], list[KnownRun]] = defaultdict(list)
    for run in runs:
        groups[run.summary.model, run.manifest.setting.mode].append(run)
    rows = [_row(model, mode, found, entries) for (model, mode), found in groups.items()]
    played = {column for row in rows for column in row.cells}
    bfcl = all(column in names.ALL for row in rows for column in row.cells if column not in BFCL_COLUMNS)
    columns = BFCL_COLUMNS if bfcl and "overall" in played else tuple(dict.fromkeys(c for r in rows for c in r.cells))
    board = Board(suite, columns, ())
    ranked = sorted(rows, key=lambda row: (*_standing(row.cells.get(columns[0])), row.model, row.mode))
    filled = [replace(row, cells={name: row.cells.get(name, _MISSING) for name in columns}) for row in ranked]
    return replace(board, rows=tuple(filled))


_MISSING = Cell(None, note=NOT_PLAYED)


def _standing(cell: Cell | None) -> tuple[int, float]:
    """Return what ranks a row: complete numbers before incomplete ones, these before none; then the higher first."""
    if cell is None or cell.value is None:
        return 2, 0.0
    return int(cell.note.startswith(INCOMPLETE)), -cell.value


def _row(model: str, mode: str, runs: Sequence[KnownRun], entries: Mapping[str, int]) -> BoardRow:
    newest = max(runs, key=lambda run: run.summary.at)
    same_data = [run for run in runs if run.manifest.dataset == newest.manifest.dataset]
    chosen = _by_category(same_data)
    counting = sorted({run.summary.id: run for run in chosen.values()}.values(), key=lambda run: -run.summary.at)
    tallies = {name: run.summary.categories[name] for name, run in chosen.items()}
    score = next((name for name in HEADLINES if name in newest.summary.scores), "")
    if score:
        cells = _mean_cells(newest, score)
        counting = [newest]
    elif tallies and all(name in names.ALL for name in tallies):
        cells = _bfcl_cells(tallies, entries, simulated=any(run.summary.simulated for run in counting))
    else:
        cells = _rate_cells(tallies, entries)
    return BoardRow(
        model=model,
        mode=mode,
        simulated=any(run.summary.simulated for run in counting),
        at=newest.summary.at,
        runs=tuple(run.summary.id for run in counting),
        cells=cells,
        cost_usd=math.fsum(tally.cost_usd for tally in tallies.values()),
        cost_unknown=sum(tally.cost_unknown for tally in tallies.values()),
    )


def _by_category(runs: Sequence[KnownRun]) -> dict[str, KnownRun]:
    chosen: dict[str, KnownRun] = {}
    for run in sorted(runs, key=lambda run: run.summary.at):
        for name, tally in run.summary.categories.items():
            known = chosen.get(name)
            done = _played(run, name)
            if names.is_prerequisite(name) or not tally.finished - tally.prepared:
                continue
            if known is None or done >= _played(known, name):
                chosen[name] = run
    return chosen


def _played(run: KnownRun, category: str) -> float:
    """Return how many cases of a category a run has finished."""
    tally = run.summary.categories[category]
    return (tally.finished - tally.prepared) / max(run.manifest.rollouts, 1)


def _rate(right: int, count: int, entries: int, note: str = "") -> Cell:
    if not count:
        return _MISSING
    low, high = wilson(right, count)
    notes = [f"{INCOMPLETE}: {count} of {entries}"] if count < entries else []
    return Cell(right / count, low, high, count, note="; ".join([*notes, *([note] if note else [])]))


def _rate_cells(tallies: Mapping[str, Tally], entries: Mapping[str, int]) -> dict[str, Cell]:
    passed, graded = (sum(getattr(tally, name) for tally in tallies.values()) for name in ("passed", "graded"))
    every = sum(entries.values())
    cells = {"passed": _rate(passed, graded, every, _broken(tallies.values()))}
    for name, tally in tallies.items():
        cells[name] = _rate(tally.passed, tally.graded, entries.get(name, 0), _broken([tally]))
    return cells


def with_interval(board: Board, run: str, values: Sequence[float]) -> Board:
    """Return the board with the interval of a ranking mean filled in.

    Args:
        board: a board that ranks by a mean.
        run: id of the run the mean is of.
        values: the mean of each case, from the run's journal.
    """
    name = board.columns[0]

    def filled(row: BoardRow) -> BoardRow:
        if row.runs[:1] != (run,) or row.cells[name].unit != "mean" or len(values) < 2:
            return row
        low, high = bootstrap_mean(values)
        return replace(row, cells={**row.cells, name: replace(row.cells[name], low=low, high=high)})

    return replace(board, rows=tuple(filled(row) for row in board.rows))


def with_measures(board: Board, runs: Sequence[str], measures: Mapping[str, float]) -> Board:
    """Return the board with what only the journals hold of one row filled in.

    Args:
        board: of BFCL.
        runs: ids of the runs that count for the row.
        measures: of `BFCL_SPENT` and `BFCL_FORMATS` what is known.
    """

    def filled(row: BoardRow) -> BoardRow:
        if row.runs != tuple(runs):
            return row
        notes = {name: row.cells[name].note.removeprefix(NOT_PLAYED) for name in measures}
        return replace(
            row, cells=row.cells | {name: Cell(it, unit="plain", note=notes[name]) for name, it in measures.items()}
        )

    return replace(board, rows=tuple(filled(row) for row in board.rows))


def _broken(tallies: Iterable[Tally]) -> str:
    count = sum(tally.broken + tally.undecided for tally in tallies)
    return f"{count} without a grade" if count else ""


def _mean_cells(run: KnownRun, score: str) -> dict[str, Cell]:
    graded = run.summary.tally.graded
    ordered = [score, *(name for name in run.summary.scores if name != score)]
    note = _broken([run.summary.tally])
    return {
        name: Cell(run.summary.scores[name], count=graded, unit="mean", note=note if name == score else "")
        for name in ordered
    }


# BFCL ----------------------------------------------------------------------------------------------------------------


def official_counts(category: str, tally: Tally) -> tuple[int, int]:
    """Return right and counted rollouts as the official scorer counts: a failed inference is judged as an answer.

    It is right where no call was wanted and wrong elsewhere; what has no grade is wrong.
    """
    right = tally.passed + (tally.broken if "irrelevance" in category else 0)
    return right, tally.finished - tally.prepared


def _bfcl_cells(tallies: Mapping[str, Tally], entries: Mapping[str, int], *, simulated: bool) -> dict[str, Cell]:
    cells = {name: _bfcl_category(name, tally, entries.get(name, 0)) for name, tally in tallies.items()}

    def of(category: str) -> Accuracy:
        cell = cells.get(category)
        if cell is None or cell.value is None:
            return Accuracy(0.0, entries.get(category, 0), known=False)
        return Accuracy(cell.value, cell.count)

    groups: dict[str, Cell] = {}
    whole = {name for name, cell in cells.items() if cell.value is not None and not cell.note.startswith(INCOMPLETE)}
    for name, part in Standing(of).sums.items():
        known = [category for category in PARTS[name] if category in cells]
        column = _COLUMN_OF.get(name, name)
        if not known or not (part.known or name in NUMBER_WITH_GAPS):
            groups[column] = _MISSING
            continue
        low, high = interval(name, of, {one: (cell.low, cell.high) for one, cell in cells.items()})
        note = "; ".join(filter(None, (gaps(name, whole), _judged(sum(tallies[it].broken for it in known)))))
        groups[column] = Cell(part.value, low, high, sum(cells[it].count for it in known), note=note)
    cost = math.fsum(tally.cost_usd for tally in tallies.values())
    known = not simulated and not any(tally.cost_unknown for tally in tallies.values())
    formats = cells.get(names.FORMAT_SENSITIVITY, _MISSING).note or NOT_PLAYED
    plain = {"cost_usd": Cell(cost, unit="plain") if known else _MISSING}
    return groups | cells | plain | dict.fromkeys(BFCL_FORMATS, Cell(None, note=formats))


def _bfcl_category(name: str, tally: Tally, entries: int) -> Cell:
    right, count = official_counts(name, tally)
    return _rate(right, count, entries, _judged(tally.broken))


def _judged(failed: int) -> str:
    """Say how many failed inferences a number holds, as the official one does."""
    return f"{failed} failed {'inference' if failed == 1 else 'inferences'} judged as answers" if failed else ""
