"""`LeaderboardList` and `ModelDetails`: the rows of all suites, and what is known of the model under the cursor."""

from textual.content import Content
from textual.widgets import Static

from console.insight.leaderboard import Leaderboard, LeaderboardRow
from console.tui.render import leaderboard_rows
from console.tui.screens.leaderboard.controller import LeaderboardController
from console.tui.widgets.row_list import Face, RowList

EMPTY = Content("No run has finished yet. L starts one; Try the demo at Home needs no key.")


class LeaderboardList(RowList):
    """Name and ranking number stay in sight; the other columns are moved sideways, suite by suite."""

    def __init__(self, controller: LeaderboardController) -> None:
        """Say that the runs are being read; draw what the controller holds later."""
        super().__init__(id="board", classes="pane", empty=Content("reading all runs …"))
        self._controller = controller

    def show_boards(self) -> None:
        """Show the rows as they are now."""
        self.show(list(self._controller.rows), draw=self._face, fixed=self._controller.headings, empty=EMPTY)

    def last_column(self, board: Leaderboard) -> int:
        """Return how far the columns of a suite can be moved."""
        return leaderboard_rows.last_left(board, self._row_width)

    def _face(self, key: str) -> Face:
        board, index = self._controller.rows[key]
        first = self._controller.first_column(board, self.last_column(board))
        if index < 0:
            return leaderboard_rows.heading(board, first, self._row_width)
        is_marked = self._controller.is_marked(key)
        return leaderboard_rows.line(board, index, first, self._row_width, marked=is_marked)

    @property
    def _row_width(self) -> int:
        return self.scrollable_content_region.width - 2


class ModelDetails(Static):
    """The runs of a model, what its numbers lack, and what is behind the sums."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__(id="row")
        self.border_title = Content("This model")

    def show_row(self, board: Leaderboard | None, row: LeaderboardRow | None, screen_width: int) -> None:
        """Show a model; `screen_width` counts until the pane is laid out."""
        if board is None or row is None:
            self.update(Content.empty())
            return
        width = max(self.content_size.width or screen_width - 2, 40)
        self.update(Content("\n").join(leaderboard_rows.about(board, row, width, self.content_size.height or 6)))
