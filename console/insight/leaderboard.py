"""Leaderboards over all runs: one row per model (and mode) of a suite, with an interval for every rate.

Only completed runs count, and never runs that replayed selected cases. Each category counts the run with the most
finished rollouts, the latest one on a tie, so that a quick run of three cases does not hide a full one. Runs on older
data are excluded. The suite's format defines the columns and the ranking number (`console.suites.leaderboard`). Pure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from console.core.grading import grading_differences, mixed_grading
from console.core.run import reroll_words, simulated_note_of
from console.core.statistics.intervals import rate_interval, score_interval
from console.core.statistics.resampling import bootstrap_interval
from console.core.statistics.sample import Observation, sample_of
from console.insight.trends import ListedRun
from console.suites.headline import headline_of
from console.suites.leaderboard import (
    INCOMPLETE,
    INCOMPLETE_WORDS,
    MISSING,
    NOT_PLAYED,
    STAR,
    Cell,
    LeaderboardRules,
    Played,
    RanksPlayers,
    interval_cell,
    with_basis,
)
from console.suites.leaderboard_rules import rules_for
from console.suites.metrics import is_yes_or_no

CasesBySuite = Mapping[str, Mapping[str, int]]
"""Number of cases in each category, by suite; removed suites are missing."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One model on one suite."""

    model: str
    mode: str
    simulated_note: str
    """Which part of its runs is simulated; may be empty."""
    at: float
    """Start time of its newest run."""
    runs: tuple[str, ...]
    """Ids of the counted runs, newest first."""
    cells: dict[str, Cell]
    cost_usd: float
    cost_unknown: int

    def headline(self, board: "Leaderboard") -> Cell:
        return self.cells[board.columns[0]]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """All models on one suite, best first, models without a number last."""

    suite: str
    columns: tuple[str, ...]
    """The first one ranks."""
    rows: tuple[LeaderboardRow, ...]
    rules: LeaderboardRules
    grading: str = ""
    """Sentence about runs that were graded differently; empty if all were graded alike. Parts are untrusted text."""
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    """Unit by column, where the suite of the newest run names one. Untrusted text."""

    def with_unit(self, column: str, heading: str) -> str:
        """Return the heading of a column with its unit, such as `cost (EUR)`."""
        return f"{heading} ({self.units[column]})" if column in self.units else heading

    def rank(self, place: int) -> int | None:
        """Return the rank of a row, from 1, or None if its number is missing or incomplete."""
        return place + 1 if _rank(self.rows[place].headline(self))[0] == 0 else None

    @property
    def legend(self) -> list[str]:
        """Explanations of the marks in use, and of missing categories."""
        marks = {mark_of(cell.note) for row in self.rows for cell in row.cells.values() if cell.value is not None}
        parts = [f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in marks]
        gaps = [f"— {gap}" for row in self.rows if (gap := row.headline(self).gap)]
        return parts + gaps[:1]


_MARKS = {
    STAR: INCOMPLETE_WORDS,
    "~": "see the note of the row",
}


def mark_of(note: str) -> str:
    """Return the mark of a number with this note: a star excludes its row from the ranking."""
    if not note or note == NOT_PLAYED:
        return ""
    return STAR if note.startswith(INCOMPLETE) else "~"


def leaderboards(
    runs: Iterable[ListedRun], cases: CasesBySuite, rules: Mapping[str, LeaderboardRules] | None = None
) -> list[Leaderboard]:
    """Return a leaderboard for every suite, sorted by name; runs that do not count are excluded."""
    by_suite: dict[str, list[ListedRun]] = defaultdict(list)
    for run in runs:
        if run.summary.state == "completed" and run.manifest.is_whole and run.summary.tally.finished:
            by_suite[run.summary.suite].append(run)
    return [
        _leaderboard(suite, suite_runs, cases.get(suite, {}), (rules or {}).get(suite))
        for suite, suite_runs in sorted(by_suite.items())
    ]


def _leaderboard(
    suite: str, runs: Sequence[ListedRun], cases: Mapping[str, int], own: LeaderboardRules | None
) -> Leaderboard:
    headline = next(filter(None, (_headline(run) for run in runs)), "")
    form = max(runs, key=lambda run: run.summary.at).summary.format
    played = {category for run in runs for category in run.summary.categories if _has_played(run, category)}
    try:
        newest = max(runs, key=lambda run: run.summary.at).manifest
        rules = rules_for(own, form, cases.keys() | played, headline, newest.further_headlines)
        board = _ranked(suite, runs, cases, rules)
        return replace(board, units={name: unit for name, unit in newest.units.items() if name in board.columns})
    except Exception:  # suites of other packages may raise anything
        if own is None:
            raise
        return _leaderboard(suite, runs, cases, None)


def _headline(run: ListedRun) -> str:
    return headline_of(run.summary.scores, run.manifest.headline)


def _ranked(suite: str, runs: Sequence[ListedRun], cases: Mapping[str, int], rules: LeaderboardRules) -> Leaderboard:
    if isinstance(rules, RanksPlayers):
        return _of_players(suite, runs, rules)
    groups: dict[tuple[str, str], list[ListedRun]] = defaultdict(list)
    for run in runs:
        groups[run.summary.model, run.manifest.setting.mode].append(run)
    rows = [_row(model, mode, group, cases, rules) for (model, mode), group in groups.items()]
    ranking = [rules.score] if rules.score else []
    columns = rules.columns or tuple(dict.fromkeys([*ranking, *(name for row in rows for name in row.cells)]))
    filled = _filled(rows, columns)
    counted = {run for row in filled for run in row.runs}
    grading = mixed_grading(run.manifest for run in runs if run.summary.id in counted)
    return Leaderboard(suite, columns, filled, rules, grading)


def _of_players(suite: str, runs: Sequence[ListedRun], rules: RanksPlayers) -> Leaderboard:
    """Return the leaderboard of all players of the runs that were graded like the newest one, without numbers yet."""
    newest = max(runs, key=lambda run: run.summary.at)
    alike = [run for run in runs if not grading_differences(run.manifest, newest.manifest)]
    of_player: dict[str, list[ListedRun]] = defaultdict(list)
    for run in sorted(alike, key=lambda run: -run.summary.at):
        for player in rules.players(run.manifest.setting):
            of_player[player].append(run)
    rows = [
        LeaderboardRow(
            model=player,
            mode="",
            simulated_note=simulated_note_of(run.summary.simulated_note for run in played),
            at=played[0].summary.at,
            runs=tuple(run.summary.id for run in played),
            cells={},
            cost_usd=math.fsum(run.summary.tally.cost_usd for run in played),
            cost_unknown=sum(run.summary.tally.cost_unknown for run in played),
        )
        for player, played in of_player.items()
    ]
    return Leaderboard(suite, rules.columns, _filled(rows, rules.columns), rules)


def with_players(board: Leaderboard, cells: Mapping[str, Mapping[str, Cell]]) -> Leaderboard:
    """Return the leaderboard of players with their cells, in order."""
    rows = [replace(row, cells=dict(cells.get(row.model, {}))) for row in board.rows]
    return replace(board, rows=_filled(rows, board.columns))


def _filled(rows: Iterable[LeaderboardRow], columns: Sequence[str]) -> tuple[LeaderboardRow, ...]:
    """Return the rows in ranking order, each with a cell in every column."""
    ranked = sorted(rows, key=lambda row: (*_rank(row.cells.get(columns[0])), row.model, row.mode))
    return tuple(replace(row, cells={name: row.cells.get(name, MISSING) for name in columns}) for row in ranked)


def _rank(cell: Cell | None) -> tuple[int, float]:
    """Return the sort key of a row: complete numbers first, then incomplete ones, then none; higher values first."""
    if cell is None or cell.value is None:
        return 2, 0.0
    return int(cell.is_incomplete), -cell.value


def _row(
    model: str, mode: str, runs: Sequence[ListedRun], cases: Mapping[str, int], rules: LeaderboardRules
) -> LeaderboardRow:
    newest = max(runs, key=lambda run: run.summary.at)
    same_data = [run for run in runs if run.manifest.dataset == newest.manifest.dataset]
    if rules.score:
        scored = [run for run in same_data if rules.score in run.summary.scores]
        newest = max(scored or [newest], key=lambda run: run.summary.at)
        same_data = [newest]
    run_of = _run_by_category(same_data, rules)
    counting = sorted({run.summary.id: run for run in run_of.values()}.values(), key=lambda run: -run.summary.at)
    tallies = {category: run.summary.categories[category] for category, run in run_of.items()}
    simulated_note = simulated_note_of(run.summary.simulated_note for run in counting or [newest])
    cells = rules.cells(Played(tallies, cases, newest.summary.scores, bool(simulated_note)))
    graded = newest.summary.tally.graded
    if rules.score in cells:
        scored = newest.summary.partial_scores.get(rules.score)
        cells = cells | {rules.score: with_basis(cells[rules.score], scored, graded)}
    if words := reroll_words(sum(run.summary.rerolled for run in counting or [newest])):
        cells = {
            name: cell if cell.value is None else replace(cell, note="; ".join(filter(None, (cell.note, words))))
            for name, cell in cells.items()
        }
    return LeaderboardRow(
        model=model,
        mode=mode,
        simulated_note=simulated_note,
        at=newest.summary.at,
        runs=tuple(run.summary.id for run in counting or [newest]),
        cells=cells,
        cost_usd=math.fsum(tally.cost_usd for tally in tallies.values()),
        cost_unknown=sum(tally.cost_unknown for tally in tallies.values()),
    )


def _run_by_category(runs: Sequence[ListedRun], rules: LeaderboardRules) -> dict[str, ListedRun]:
    chosen: dict[str, ListedRun] = {}
    for run in sorted(runs, key=lambda run: run.summary.at):
        for category in run.summary.categories:
            if not _has_played(run, category) or not rules.counts(category):
                continue
            if category not in chosen or _cases_played(run, category) >= _cases_played(chosen[category], category):
                chosen[category] = run
    return chosen


def _has_played(run: ListedRun, category: str) -> bool:
    tally = run.summary.categories[category]
    return tally.done > tally.not_run


def _cases_played(run: ListedRun, category: str) -> float:
    """Return the number of finished cases of a category in a run."""
    tally = run.summary.categories[category]
    return (tally.done - tally.not_run) / max(run.manifest.rollouts, 1)


def with_interval(
    board: Leaderboard, run: str, values: Sequence[Observation], scale: tuple[float, float] | None = None
) -> Leaderboard:
    """Return the leaderboard with the interval of a ranking mean filled in.

    Args:
        board: leaderboard that ranks by a mean.
        run: id of the run with that mean.
        values: scores of its rollouts, from the journal.
        scale: lowest and highest value of the score, which the interval never leaves; None if unknown.
    """
    name, sample = board.columns[0], sample_of(values)

    def filled(row: LeaderboardRow) -> LeaderboardRow:
        if row.runs[:1] != (run,) or row.cells[name].unit != "mean" or sample.cases < 2:
            return row
        if not board.rules.is_count and is_yes_or_no((value.value for value in values), scale):
            interval = rate_interval(sample)
        elif scale is None and sample.is_plain:
            interval = bootstrap_interval([value.value for value in values])
        else:
            interval = score_interval(sample, scale)
        assert interval is not None  # there are cases
        cell = interval_cell(interval, unit="mean", note=row.cells[name].note)
        return replace(row, cells={**row.cells, name: replace(cell, count=row.cells[name].count)})

    return replace(board, rows=tuple(filled(row) for row in board.rows))


def with_measures(board: Leaderboard, runs: Sequence[str], measures: Mapping[str, float]) -> Leaderboard:
    """Return the leaderboard with values measured in journals filled in, in the row that these runs belong to."""

    def filled(row: LeaderboardRow) -> LeaderboardRow:
        if row.runs != tuple(runs):
            return row
        cells = {
            name: Cell(value, unit="plain", note=row.cells[name].note.removeprefix(NOT_PLAYED))
            for name, value in measures.items()
            if name in row.cells
        }
        return replace(row, cells=row.cells | cells)

    return replace(board, rows=tuple(filled(row) for row in board.rows))
