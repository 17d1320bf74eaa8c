"""Trends: each model on each suite over its runs; the change is shown between runs of the same cases only."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from console.insight.trends import Trend, trends
from console.store.runs import RunFolder
from console.tui.data.catalog_items import RunLine
from console.tui.data.listed_runs import listed_runs
from console.tui.keymap import bindings_for
from console.tui.screens.base import BaseScreen
from console.tui.screens.trends.panes import TrendList, TrendRunList
from console.tui.services import Services
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule


class TrendsScreen(BaseScreen):
    """All trends, and the runs of the one under the cursor."""

    where: ClassVar[str] = "trends"
    heading: ClassVar[str] = "Trends"
    AUTO_FOCUS: ClassVar[str | None] = "#trends"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("trends")
    DEFAULT_CSS = """
    TrendsScreen { #both { height: 1fr; } #trends { height: 2fr; } #points { height: 3fr; }
                   &.-empty Rule, &.-empty #points { display: none; } }
    """

    def __init__(self, services: Services) -> None:
        """Follow the runs of the workspace; nothing is read before the screen is mounted."""
        super().__init__(services)
        self.trends = TrendList()
        self.runs = TrendRunList()

    def compose_body(self) -> ComposeResult:
        """Lay out the models and the runs of one."""
        with Container(id="both"):
            yield self.trends
            yield Rule()
            yield self.runs

    def on_mount(self) -> None:
        """Read once the frame is painted, and again whenever runs change."""
        self.services.workspace.changed.subscribe(self, self._take_news)
        self.call_after_refresh(self._reread)

    def on_screen_resume(self) -> None:
        """Catch up with what changed meanwhile."""
        self._reread()

    def _take_news(self, changed: str) -> None:
        if changed == "runs" and self.is_current:
            self._reread()

    def action_reload(self) -> None:
        """Read all runs again."""
        self.services.workspace.read_runs()

    def _reread(self) -> None:
        if self.services.workspace.runs_complete:
            self._read(list(self.services.workspace.runs or []))

    @work(thread=True, exclusive=True, group="trends")
    def _read(self, lines: Sequence[RunLine]) -> None:
        all_trends = trends(listed_runs(lines))
        if self.is_running:
            self.services.from_thread(self._take, all_trends)

    def _take(self, all_trends: Sequence[Trend]) -> None:
        self.set_class(not all_trends, "-empty")
        self.trends.show_trends(all_trends)
        self._show_runs()

    @on(RowList.RowHighlighted, "#trends")
    def _show_runs(self) -> None:
        self.runs.show_trend(self.trends.current)

    @on(RowList.RowChosen, "#trends")
    def _to_runs(self) -> None:
        self.runs.focus()

    @on(RowList.RowChosen, "#points")
    def _open(self, event: RowList.RowChosen) -> None:
        if (run := self._folder(event.key)) is not None:
            self.services.navigator.open_review(run)

    def action_mark(self) -> None:
        """Mark the run under the cursor for Compare; a second mark opens it."""
        if (run := self._folder(self.runs.cursor or "")) is not None:
            self.services.navigator.mark_for_compare(run)

    def _folder(self, run: str) -> RunFolder | None:
        lines = self.services.workspace.runs or ()
        return next((line.folder for line in lines if line.summary is not None and line.summary.id == run), None)
