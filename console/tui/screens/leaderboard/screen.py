"""The leaderboard: all models on each suite, ranked by what the suite measures, an interval beside every rate.

Made from the summaries of all runs; only what the suite's rules measure in journals, and the spread of means, need
these, which a thread reads.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError
from console.exchange.leaderboard_measures import completed
from console.insight import number_format
from console.insight.leaderboard import Leaderboard, leaderboards
from console.insight.trends import ListedRun
from console.store.runs import RunFolder
from console.suites.catalog import Catalog
from console.suites.leaderboard import HasLeaderboard, LeaderboardRules
from console.tui.data.catalog_items import RunLine
from console.tui.keymap import bindings_for
from console.tui.render import leaderboard_rows as drawn
from console.tui.screens.base import BaseScreen
from console.tui.services import Services
from console.tui.widgets.row_list import Face, RowList
from console.tui.widgets.rule import Rule

MUTED = "$muted"
_JOINT = "\x1f"


class LeaderboardScreen(BaseScreen):
    """All boards; see the module."""

    where: ClassVar[str] = "board"
    heading: ClassVar[str] = "Leaderboard"
    AUTO_FOCUS: ClassVar[str | None] = "#board"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("board")
    DEFAULT_CSS = """
    LeaderboardScreen {
        #boards { height: 1fr; } #board { height: 1fr; }
        #row { height: 6; padding: 0 1; }
        &.-empty Rule, &.-empty #row { display: none; }
        &.-wide #row { height: 9; border: round $line; border-title-color: $muted; }
    }
    """

    def __init__(self, services: Services) -> None:
        """Show nothing yet."""
        super().__init__(services)
        self.boards: list[Leaderboard] = []
        self._rows: dict[str, tuple[Leaderboard, int]] = {}
        self._is_read = False
        self._left: dict[str, int] = {}
        """By suite, the first of the columns in sight."""
        self._marked: RunFolder | None = None

    # Layout and reading ----------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out the list and what is known of the row under the cursor."""
        with Container(id="boards"):
            yield RowList(id="board", classes="pane", empty=Content("reading all runs …"))
        yield Rule()
        yield Static(id="row")

    def on_mount(self) -> None:
        """Read once the frame is painted, and again whenever runs or suites change."""
        self.query_one("#row", Static).border_title = Content("This model")
        self.services.workspace.changed.subscribe(self, self._take_news)
        self.call_after_refresh(self._reread)

    def on_screen_resume(self) -> None:
        """Catch up with what changed meanwhile."""
        self._reread()

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns that fit."""
        self.call_after_refresh(self._draw)

    def _take_news(self, what: str) -> None:
        if what in ("runs", "suites") and self.is_current:
            self._reread()

    def action_reload(self) -> None:
        """Read all runs again."""
        self.services.workspace.read_runs()

    def _reread(self) -> None:
        workspace = self.services.workspace
        if not workspace.runs_complete or workspace.suites is None:
            return
        entries = {
            line.name: {category.name: category.cases for category in line.categories}
            for line in workspace.suites.lines
        }
        self._read(list(workspace.runs or []), entries, workspace.suites.catalog)

    @work(thread=True, exclusive=True, group="board")
    def _read(self, runs: Sequence[RunLine], entries: Mapping[str, Mapping[str, int]], catalog: Catalog | None) -> None:
        listed: list[ListedRun] = []
        folders = {line.name: line.folder for line in runs}
        for line in runs:
            try:
                if line.summary is not None:
                    listed.append(ListedRun(line.summary, line.folder.manifest()))
            except UsageError:  # a run that was deleted meanwhile
                continue
        rules = _rules(catalog, {run.summary.suite for run in listed} & entries.keys())
        boards = leaderboards(listed, entries, rules)
        for stage in (iter(boards), (completed(board, folders.__getitem__) for board in boards)):
            shown = list(stage)
            if not self.is_running:
                return
            self.services.from_thread(self._take, shown)

    def _take(self, boards: list[Leaderboard]) -> None:
        self.boards, self._is_read = boards, True
        self._draw()

    # Drawing ---------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> RowList:
        """The list of all boards."""
        return self.query_one("#board", RowList)

    def _draw(self) -> None:
        if not self.is_mounted or not self._is_read:
            return
        self._rows = {}
        keys: list[str] = []
        fixed: set[str] = set()
        for board in self.boards:
            head = f"suite{_JOINT}{board.suite}"
            self._rows[head] = board, -1
            keys.append(head)
            fixed.add(head)
            for place in range(len(board.rows)):
                key = f"row{_JOINT}{board.suite}{_JOINT}{place}"
                self._rows[key] = board, place
                keys.append(key)
        models = {row.model for board in self.boards for row in board.rows}
        words = f"{number_format.plural(len(models), 'model')}, {number_format.plural(len(self.boards), 'suite')}"
        self.top_line.tell(title=Content(words), status=Content.styled("finished runs", MUTED))
        empty = Content("No run has finished yet. L starts one; Try the demo at Home needs no key.")
        self.set_class(not keys, "-empty")
        self.rows.show(keys, draw=self._face, fixed=fixed, empty=empty)
        self._show_row()

    def _face(self, key: str) -> Face:
        board, place = self._rows[key]
        left = min(self._left.get(board.suite, 0), drawn.last_left(board, self._room))
        if place < 0:
            return drawn.heading(board, left, self._room)
        return drawn.line(board, place, left, self._room, marked=self._is_marked(board, place))

    @property
    def _room(self) -> int:
        return self.rows.scrollable_content_region.width - 2

    def _is_marked(self, board: Leaderboard, place: int) -> bool:
        return self._marked is not None and self._marked.name in board.rows[place].runs[:1]

    @on(RowList.RowHighlighted, "#board")
    def _show_row(self) -> None:
        about = self.query_one("#row", Static)
        board, place = self._rows.get(self.rows.cursor or "", (None, -1))
        width = max(about.content_size.width or self.size.width - 2, 40)
        if board is None or place < 0:
            about.update(Content.empty())
            return
        about.update(Content("\n").join(drawn.about(board, board.rows[place], width, about.content_size.height or 6)))

    # Acting ----------------------------------------------------------------------------------------------------------

    def key_words(self) -> Mapping[str, str]:
        """Name enter by where it leads."""
        return {"open": "open its run in Review"}

    def _folder(self) -> RunFolder | None:
        board, place = self._rows.get(self.rows.cursor or "", (None, -1))
        if board is None or place < 0:
            return None
        wanted = board.rows[place].runs[0]
        return next((line.folder for line in self.services.workspace.runs or () if line.name == wanted), None)

    @on(RowList.RowChosen, "#board")
    def _chosen(self) -> None:
        if (folder := self._folder()) is not None:
            self.services.navigator.open_review(folder)

    def action_mark(self) -> None:
        """Mark the run of the row for Compare; the second mark opens it."""
        folder, before = self._folder(), self._marked
        if folder is None:
            return
        self._marked = None
        if before is None:
            self._marked = folder
            self.services.notify(Content("Marked as A; m on another row compares it with this one."))
        elif before.path != folder.path:
            self.services.navigator.open_compare(before, folder)
        self.rows.touch()

    def action_column_next(self) -> None:
        """Move the columns of this suite, so that the next one comes into sight."""
        self._move(1)

    def action_column_prev(self) -> None:
        """Move the columns of this suite back."""
        self._move(-1)

    def _move(self, by: int) -> None:
        board, _ = self._rows.get(self.rows.cursor or "", (None, -1))
        if board is not None:
            last = drawn.last_left(board, self._room)
            self._left[board.suite] = max(0, min(min(self._left.get(board.suite, 0), last) + by, last))
            self.rows.touch()

    def action_group_next(self) -> None:
        """Go to the next suite."""
        self._step(1)

    def action_group_prev(self) -> None:
        """Go to the previous suite."""
        self._step(-1)

    def _step(self, by: int) -> None:
        board, _ = self._rows.get(self.rows.cursor or "", (None, -1))
        if board is not None and 0 <= (place := self.boards.index(board) + by) < len(self.boards):
            self.rows.move_to(f"row{_JOINT}{self.boards[place].suite}{_JOINT}0")


def _rules(catalog: Catalog | None, suites: Iterable[str]) -> dict[str, LeaderboardRules]:
    """Return how models are ranked, of suites that say it."""
    rules: dict[str, LeaderboardRules] = {}
    for name in suites:
        try:
            suite = catalog.open(name) if catalog is not None else None
        except UsageError:
            continue
        if isinstance(suite, HasLeaderboard):
            rules[name] = suite.leaderboard
    return rules
