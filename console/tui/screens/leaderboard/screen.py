"""The leaderboard: all models on each suite, ranked by the suite's rules, with an interval for every rate.

Most columns come from run summaries; a thread reads journals for suite-specific measures and spreads of means.
"""

from collections.abc import Mapping, Sequence
from functools import partialmethod
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from console.exchange.score_columns import ScoreColumns
from console.insight.leaderboard import Leaderboard, LeaderboardRow
from console.store.runs import RunFolder
from console.tui.data.runs import RunLine
from console.tui.data.suites import Suites
from console.tui.render import leaderboard_rows, lines
from console.tui.render.columns import Face
from console.tui.sanitize import one_line
from console.tui.screens.base import BaseScreen
from console.tui.screens.leaderboard.controller import LeaderboardController, read_boards
from console.tui.services import Services
from console.tui.symbols import muted
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule

MOST_LEGEND = 6
"""Maximum number of lines of the legend."""
EMPTY = Content("No run has finished yet. L starts one; Try the demo at Home needs no key.")


class LeaderboardList(RowList):
    """A list whose columns scroll sideways, suite by suite; name and ranking value stay visible."""

    def __init__(self, controller: LeaderboardController) -> None:
        super().__init__(id="board", classes="pane", empty=Content("reading all runs …"))
        self._controller = controller
        self._marked = ""

    def show_boards(self, marked: str) -> None:
        """Show the rows; `marked` is the name of the run marked for Compare."""
        self._marked = marked
        self.show(list(self._controller.rows), draw=self._face, fixed=self._controller.headings, empty=EMPTY)

    def last_column(self, board: Leaderboard) -> int:
        """Return the number of columns by which a suite can be scrolled."""
        return leaderboard_rows.last_left(board, self._room)

    def _face(self, key: str) -> Face:
        board, index = self._controller.rows[key]
        first = self._controller.first_column(board, self.last_column(board))
        if index < 0:
            return leaderboard_rows.heading(board, first, self._room)
        is_marked = self._marked in board.rows[index].runs[:1]
        return leaderboard_rows.line(board, index, first, self._room, marked=is_marked)

    @property
    def _room(self) -> leaderboard_rows.Room:
        return leaderboard_rows.room_for(self._controller.boards, self.room - 2)


class ModelDetails(Static):
    """Details of a model: its runs, gaps in its data, and the counts behind its rates."""

    def __init__(self) -> None:
        super().__init__(id="row")
        self.border_title = Content("This model")

    def show_row(self, board: Leaderboard | None, row: LeaderboardRow | None, apart: str, screen_width: int) -> None:
        """Show a model, with the text of its other scores; `screen_width` is used until the pane is laid out."""
        if board is None or row is None:
            self.update(Content.empty())
            return
        width = max(self.content_size.width or screen_width - 2, 40)
        self.update(Content("\n").join(leaderboard_rows.about(board, row, apart, width, self.content_size.height or 6)))


class LeaderboardScreen(BaseScreen):
    """The leaderboards, and details of the model under the cursor."""

    where: ClassVar[str] = "board"
    heading: ClassVar[str] = "Leaderboard"
    AUTO_FOCUS: ClassVar[str | None] = "#board"
    shown_parts: ClassVar[frozenset[str]] = frozenset({"runs", "suites"})
    DEFAULT_CSS = """
    LeaderboardScreen {
        #boards { height: 1fr; } #board { height: 1fr; }
        #row { height: 6; padding: 0 1; }
        #legend { height: auto; padding: 0 3; color: $muted; &.-empty { display: none; } }
        &.-empty Rule, &.-empty #row { display: none; }
        &.-wide #row { height: 9; border: round $line; border-title-color: $muted; }
    }
    """

    def __init__(self, services: Services) -> None:
        """Initialize the screen; runs are read after mounting."""
        super().__init__(services)
        self.controller = LeaderboardController()
        self.rows = LeaderboardList(self.controller)
        self.details = ModelDetails()
        self.legend = Static(id="legend")

    # Layout and reading ----------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        with Container(id="boards"):
            yield self.rows
        yield self.legend
        yield Rule()
        yield self.details

    def on_mount(self) -> None:
        """Read after the first frame."""
        self.call_after_refresh(self.show_workspace, "")

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def action_reload(self) -> None:
        self.services.workspace.read_runs()

    def show_workspace(self, part: str) -> None:
        workspace = self.services.workspace
        if workspace.runs_complete and workspace.suites is not None:
            self._read(list(workspace.runs or []), workspace.suites)

    @work(thread=True, exclusive=True, group="board")
    def _read(self, runs: Sequence[RunLine], suites: Suites) -> None:
        for boards, columns in read_boards(runs, suites, self.services.paths.data):
            if not self.is_running:
                return
            self.services.from_thread(self._show_boards, boards, columns)

    def _show_boards(self, boards: Sequence[Leaderboard], columns: Mapping[str, ScoreColumns]) -> None:
        self.controller.use_boards(boards, columns)
        self._draw()

    # Drawing ---------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        if not self.is_mounted or not self.controller.is_read:
            return
        self.top_line.tell(title=Content(self.controller.title), status=muted("finished runs"))
        self.set_class(not self.controller.rows, "-empty")
        marked = self.services.navigator.marked
        self.rows.show_boards(marked[0].name if marked is not None else "")
        self._show_legend()
        self._show_details()

    def _show_legend(self) -> None:
        """Show the meanings of marks, wrapped between words; what does not fit is marked as cut."""
        width = self.size.width - 6
        parts = [one_line(part) for part in self.controller.legend]
        joined = Content("   ").join(parts)
        wrapped = (
            [joined]
            if joined.cell_length <= width
            else [part[start:end] for part in parts for start, end in lines.wrap(part.plain, width)]
        )
        if len(wrapped) > MOST_LEGEND:
            wrapped = [*wrapped[: MOST_LEGEND - 1], lines.fit(wrapped[MOST_LEGEND - 1].append(" …"), width)]
        self.legend.update(Content("\n").join(wrapped))
        self.legend.set_class(not parts, "-empty")

    @on(RowList.RowHighlighted, "#board")
    def _show_details(self) -> None:
        key = self.rows.cursor
        board, row, apart = (
            self.controller.board_of(key),
            self.controller.model_row(key),
            self.controller.scores_apart(key),
        )
        self.details.show_row(board, row, apart, self.size.width)

    # User input -------------------------------------------------------------------------------------------------------

    def key_words(self) -> Mapping[str, str]:
        return {"open": "open its run in Review"}

    @property
    def _run_under_cursor(self) -> RunFolder | None:
        row = self.controller.model_row(self.rows.cursor)
        lines = self.services.workspace.runs or () if row is not None else ()
        return next((line.folder for line in lines if row is not None and line.name == row.runs[0]), None)

    @on(RowList.RowChosen, "#board")
    def _chosen(self) -> None:
        if (run := self._run_under_cursor) is not None:
            self.services.navigator.open_review(run)

    def action_mark(self) -> None:
        """Mark the run of the row for Compare; a second mark opens it."""
        if (run := self._run_under_cursor) is not None:
            self.services.navigator.mark_for_compare(run)
            self._draw()

    def _move_columns(self, by: int) -> None:
        """Scroll the columns of the current suite."""
        if (board := self.controller.board_of(self.rows.cursor)) is not None:
            self.controller.move_columns(board, by, self.rows.last_column(board))
            self.rows.touch()

    action_column_next = partialmethod(_move_columns, 1)
    action_column_prev = partialmethod(_move_columns, -1)

    def _step(self, by: int) -> None:
        """Move to the next or previous suite."""
        if (key := self.controller.step(self.rows.cursor, by)) is not None:
            self.rows.move_to(key)

    action_group_next = partialmethod(_step, 1)
    action_group_prev = partialmethod(_step, -1)
