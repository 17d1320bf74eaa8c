"""`LeaderboardController`: which rows there are and which columns are in sight. No Textual."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from console.core.fault import UsageError
from console.exchange.leaderboard_measures import completed
from console.insight import number_format
from console.insight.leaderboard import Leaderboard, LeaderboardRow, leaderboards
from console.suites.catalog import Catalog
from console.suites.leaderboard import LeaderboardRules
from console.tui.data.runs import RunLine, listed_runs
from console.tui.data.suites import Suites

_SEPARATOR = "\x1f"


class LeaderboardController:
    """The leaderboards of all suites in one list: a heading for each suite, a row for each model."""

    def __init__(self) -> None:
        """Show nothing until the runs are read."""
        self.boards: list[Leaderboard] = []
        self.is_read = False
        self.rows: dict[str, tuple[Leaderboard, int]] = {}
        """Board and index of each row by its key, in order; -1: the heading."""
        self._first_column: dict[str, int] = {}
        """By suite, the first of the columns in sight."""

    def use_boards(self, boards: Sequence[Leaderboard]) -> None:
        self.boards, self.is_read = list(boards), True
        self.rows = {
            _row_key(board.suite, index): (board, index)
            for board in self.boards
            for index in range(-1, len(board.rows))
        }

    @property
    def headings(self) -> set[str]:
        """Keys of the rows that name a suite."""
        return {key for key, (_, index) in self.rows.items() if index < 0}

    @property
    def title(self) -> str:
        """How many models and suites there are, in words."""
        models = {row.model for board in self.boards for row in board.rows}
        return f"{number_format.plural(len(models), 'model')}, {number_format.plural(len(self.boards), 'suite')}"

    def board_of(self, key: str | None) -> Leaderboard | None:
        """Return the leaderboard that a row is on."""
        board, _ = self.rows.get(key or "", (None, -1))
        return board

    def model_row(self, key: str | None) -> LeaderboardRow | None:
        """Return the model of a row; None for headings."""
        board, index = self.rows.get(key or "", (None, -1))
        return board.rows[index] if board is not None and index >= 0 else None

    def step(self, key: str | None, by: int) -> str | None:
        """Return the first model's row of the next (or previous) suite; None at the end."""
        board = self.board_of(key)
        index = self.boards.index(board) + by if board is not None else -1
        return _row_key(self.boards[index].suite, 0) if 0 <= index < len(self.boards) else None

    def first_column(self, board: Leaderboard, last: int) -> int:
        """Return the first of a leaderboard's columns in sight; `last` is the farthest that fills the width."""
        return min(self._first_column.get(board.suite, 0), last)

    def move_columns(self, board: Leaderboard, by: int, last: int) -> None:
        """Bring other columns into sight."""
        self._first_column[board.suite] = max(0, min(self.first_column(board, last) + by, last))


def _row_key(suite: str, index: int) -> str:
    return f"suite{_SEPARATOR}{suite}" if index < 0 else f"row{_SEPARATOR}{suite}{_SEPARATOR}{index}"


def read_boards(runs: Iterable[RunLine], suites: Suites) -> Iterator[list[Leaderboard]]:
    """Yield the leaderboards as lists have them, then completed by what only journals hold; call it in a thread."""
    lines = list(runs)
    folders = {line.name: line.folder for line in lines}
    cases = {line.name: {category.name: category.cases for category in line.categories} for line in suites.lines}
    listed = listed_runs(lines)
    played = {run.summary.suite for run in listed}
    rules = _rules_of(suites.catalog, [suite for suite in cases if suite in played])
    boards = leaderboards(listed, cases, rules)
    yield boards
    yield [completed(board, folders.__getitem__) for board in boards]


def _rules_of(catalog: Catalog | None, suites: Iterable[str]) -> Mapping[str, LeaderboardRules]:
    """Return how models are ranked, of suites that say it."""
    rules: dict[str, LeaderboardRules] = {}
    for name in suites:
        try:
            suite = catalog.open(name) if catalog is not None else None
            if suite is not None and suite.leaderboard is not None:
                rules[name] = suite.leaderboard
        except UsageError:  # it cannot be opened, or its code fails
            continue
    return rules
