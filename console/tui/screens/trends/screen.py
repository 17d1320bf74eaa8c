"""Trends: each model on each suite over its runs; the change is shown between runs of the same cases only."""

from datetime import UTC, datetime
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content

from console.core.fault import UsageError
from console.exchange.comparison_table import signed
from console.insight import number_format
from console.insight.trends import ListedRun, Point, Trend, trends
from console.tui.data.catalog_items import RunLine
from console.tui.keymap import bindings_for
from console.tui.sanitize import one_line
from console.tui.screens.base import BaseScreen
from console.tui.services import Services
from console.tui.widgets.row_list import Column, Face, RowList
from console.tui.widgets.rule import Rule

MUTED = "$muted"
_TRENDS = (Column("model", 14, 2), Column("suite", 12, 2), Column("runs", 5, right=True), Column("last", 7, right=True),
           Column("over time", 20, 2))  # fmt: skip
_POINTS = (Column("when", 12), Column("run", 20, 3), Column("value", 7, right=True), Column("95 %", 13),
           Column("change", 8, right=True), Column("of", 11, right=True))  # fmt: skip


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
        """Show nothing yet."""
        super().__init__(services)
        self.trends: dict[str, Trend] = {}
        self._points: dict[str, Point] = {}

    def compose_body(self) -> ComposeResult:
        """Lay out the models and the runs of one."""
        with Container(id="both"):
            yield RowList(_TRENDS, id="trends", classes="pane", names=True, empty=Content("reading all runs …"))
            yield Rule()
            yield RowList(_POINTS, id="points", classes="pane", names=True, empty=Content(""))

    def on_mount(self) -> None:
        """Read once the frame is painted, and again whenever runs change."""
        self.services.workspace.changed.subscribe(self, self._take_news)
        self.call_after_refresh(self._reread)

    def on_screen_resume(self) -> None:
        """Catch up with what changed meanwhile."""
        self._reread()

    def _take_news(self, what: str) -> None:
        if what == "runs" and self.is_current:
            self._reread()

    def action_reload(self) -> None:
        """Read all runs again."""
        self.services.workspace.read_runs()

    def _reread(self) -> None:
        if self.services.workspace.runs_complete:
            self._read(list(self.services.workspace.runs or []))

    @work(thread=True, exclusive=True, group="trends")
    def _read(self, runs: list[RunLine]) -> None:
        known: list[ListedRun] = []
        for line in runs:
            try:
                if line.summary is not None:
                    known.append(ListedRun(line.summary, line.folder.manifest()))
            except UsageError:  # a run that was deleted meanwhile
                continue
        found = trends(known)
        if self.is_running:
            self.services.from_thread(self._take, found)

    def _take(self, found: list[Trend]) -> None:
        self.trends = {f"{it.suite}\x1f{it.model}": it for it in found}
        self.set_class(not found, "-empty")
        words = "No run has finished yet. L starts one; Try the demo at Home needs no key."
        self.query_one("#trends", RowList).show(list(self.trends), draw=self._draw_trend, empty=Content(words))
        self._show_points()

    @on(RowList.RowHighlighted, "#trends")
    def _show_points(self) -> None:
        trend = self.trends.get(self.query_one("#trends", RowList).cursor or "")
        points = list(reversed(trend.points)) if trend is not None else []
        self._points = {point.run: point for point in points}
        self.query_one("#points", RowList).show(list(self._points), draw=self._draw_point)

    @on(RowList.RowChosen, "#trends")
    def _to_points(self) -> None:
        self.query_one("#points", RowList).focus()

    @on(RowList.RowChosen, "#points")
    def _open(self, event: RowList.RowChosen) -> None:
        line = self._line(event.key)
        if line is not None:
            self.services.navigator.open_review(line.folder)

    def _line(self, run: str) -> RunLine | None:
        return next((it for it in self.services.workspace.runs or () if it.summary and it.summary.id == run), None)

    def action_mark(self) -> None:
        """Mark the run under the cursor for Compare; a second mark opens it."""
        line = self._line(self.query_one("#points", RowList).cursor or "")
        if line is not None:
            self.services.navigator.mark_for_compare(line.folder)

    # Drawing ---------------------------------------------------------------------------------------------------------

    def _draw_trend(self, key: str) -> Face:
        trend = self.trends[key]
        values = [point.value for point in trend.points]
        show = number_format.number if trend.score else number_format.rate
        last = next((value for value in reversed(values) if value is not None), None)
        bars = number_format.sparkline(values, 40, None if trend.score else 1.0) if len(values) > 1 else ""
        mark = "simulated" if trend.simulated else ""
        return (one_line(trend.model, 60, "bold"), one_line(trend.suite, 40),
                Content(str(len(values))), Content("—" if last is None else show(last)),
                Content.assemble((bars, "$pass"), "  " if bars and mark else "", (mark, "$undecided")))  # fmt: skip

    def _draw_point(self, key: str) -> Face:
        point = self._points[key]
        trend = self.trends.get(self.query_one("#trends", RowList).cursor or "")
        show = number_format.number if trend is not None and trend.score else number_format.rate
        when = datetime.fromtimestamp(point.at, UTC).astimezone().strftime("%d %b %H:%M")
        span = "" if point.low is None or point.high is None else f"{show(point.low)}–{show(point.high)}"
        change = "" if point.change is None else signed(point.change, show)
        style = "$pass" if (point.change or 0) > 0 else "$fail" if (point.change or 0) < 0 else MUTED
        return (Content.styled(when, MUTED), one_line(point.run, 80), Content("—" if point.value is None else
                show(point.value)), Content.styled(span, MUTED), Content.styled(change, style),
                Content.styled(f"{point.graded} of {point.planned}", MUTED))  # fmt: skip
