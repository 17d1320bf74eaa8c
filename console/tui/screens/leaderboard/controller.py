"""`LeaderboardController`: rows and visible columns, without Textual."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.leaderboard_measures import completed
from console.exchange.score_columns import ScoreColumns, score_columns
from console.insight import number_format
from console.insight.leaderboard import Leaderboard, LeaderboardRow, leaderboards
from console.store.runs import RunFolder
from console.suites.catalog import Catalog
from console.suites.leaderboard import LeaderboardRules
from console.tui.data.runs import RunLine, listed_runs
from console.tui.data.suites import Suites

_SEPARATOR = "\x1f"


class LeaderboardController:
    """The leaderboards of all suites in one list, with a heading for each suite and a row for each model."""

    def __init__(self) -> None:
        self.boards: list[Leaderboard] = []
        self.is_read = False
        self.rows: dict[str, tuple[Leaderboard, int]] = {}
        """Board and index of each row by key, in order; index -1 is the heading."""
        self.columns: Mapping[str, ScoreColumns] = {}
        """Scores by corrected keys and by people's labels, by run; only for runs that have any."""
        self._first_column: dict[str, int] = {}
        """First visible column, by suite."""

    def use_boards(self, boards: Sequence[Leaderboard], columns: Mapping[str, ScoreColumns]) -> None:
        self.boards, self.is_read, self.columns = list(boards), True, columns
        self.rows = {
            _row_key(board.suite, index): (board, index)
            for board in self.boards
            for index in range(-1, len(board.rows))
        }

    @property
    def headings(self) -> set[str]:
        return {key for key, (_, index) in self.rows.items() if index < 0}

    @property
    def title(self) -> str:
        """Number of models and suites, as text."""
        models = {row.model for board in self.boards for row in board.rows}
        return f"{number_format.plural(len(models), 'model')}, {number_format.plural(len(self.boards), 'suite')}"

    @property
    def legend(self) -> list[str]:
        """Meanings of the marks in use on any board, followed by the first difference in grading. Untrusted text."""
        parts = [part for board in self.boards for part in board.legend]
        return list(dict.fromkeys(filter(None, (*parts, next(filter(None, (b.grading for b in self.boards)), "")))))

    def board_of(self, key: str | None) -> Leaderboard | None:
        board, _ = self.rows.get(key or "", (None, -1))
        return board

    def model_row(self, key: str | None) -> LeaderboardRow | None:
        """Return the model of a row; None for headings."""
        board, index = self.rows.get(key or "", (None, -1))
        return board.rows[index] if board is not None and index >= 0 else None

    def scores_apart(self, key: str | None) -> str:
        """Return a row's scores by corrected keys and by people's labels, as text; empty if there are none."""
        row = self.model_row(key)
        columns = self.columns.get(row.runs[0]) if row is not None and len(row.runs) == 1 else None
        return columns.words if columns is not None else ""

    def step(self, key: str | None, by: int) -> str | None:
        """Return the first row of the next or previous suite; None at the end."""
        board = self.board_of(key)
        index = self.boards.index(board) + by if board is not None else -1
        return _row_key(self.boards[index].suite, 0) if 0 <= index < len(self.boards) else None

    def first_column(self, board: Leaderboard, last: int) -> int:
        """Return the first visible column of a leaderboard, at most `last`."""
        return min(self._first_column.get(board.suite, 0), last)

    def move_columns(self, board: Leaderboard, by: int, last: int) -> None:
        self._first_column[board.suite] = max(0, min(self.first_column(board, last) + by, last))


def _row_key(suite: str, index: int) -> str:
    return f"suite{_SEPARATOR}{suite}" if index < 0 else f"row{_SEPARATOR}{suite}{_SEPARATOR}{index}"


def read_boards(
    runs: Iterable[RunLine], suites: Suites, data: Path | None
) -> Iterator[tuple[list[Leaderboard], dict[str, ScoreColumns]]]:
    """Yield the leaderboards from run summaries, then with the columns that need journals. Call in a thread."""
    lines = list(runs)
    folders = {line.name: line.folder for line in lines}
    cases = {line.name: {category.name: category.cases for category in line.categories} for line in suites.lines}
    listed = listed_runs(lines)
    played = {run.summary.suite for run in listed}
    rules = _rules_of(suites.catalog, [suite for suite in cases if suite in played])
    boards = leaderboards(listed, cases, rules)
    yield boards, {}
    boards = [completed(board, folders.__getitem__) for board in boards]
    counted = {row.runs[0] for board in boards for row in board.rows if len(row.runs) == 1}
    yield boards, dict(_columns({name: folders[name] for name in counted if name in folders}, data))


def _columns(folders: Mapping[str, RunFolder], data: Path | None) -> Iterator[tuple[str, ScoreColumns]]:
    """Yield the scores by corrected keys and by people's labels of the runs that have any and can be read."""
    for name, folder in folders.items():
        with suppress(UsageError, OSError):
            if (columns := score_columns(folder, data)) is not None:
                yield name, columns


def _rules_of(catalog: Catalog | None, suites: Iterable[str]) -> Mapping[str, LeaderboardRules]:
    rules: dict[str, LeaderboardRules] = {}
    for name in suites:
        try:
            suite = catalog.open(name) if catalog is not None else None
            if suite is not None and suite.leaderboard is not None:
                rules[name] = suite.leaderboard
        except UsageError:  # the suite cannot be opened, or its code fails
            continue
    return rules
