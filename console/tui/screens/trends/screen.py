"""Trends: results by model and selection of a suite over time, plotted, with a paired test of the last two runs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError, reason_of
from console.exchange.run_reader import RunReader
from console.insight import number_format
from console.insight.comparison import compare
from console.insight.comparison_report import verdict_words
from console.insight.number_format import signed
from console.insight.trends import Point, Trend, trends
from console.store.runs import RunFolder
from console.tui.data.runs import RunLine, listed_runs
from console.tui.render import lines
from console.tui.render.columns import Column
from console.tui.render.trend_plot import plot_lines
from console.tui.sanitize import one_line
from console.tui.screens.base import BaseScreen
from console.tui.services import Services
from console.tui.symbols import MUTED, muted
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule

MOST_WORDS = 2
"""Maximum number of lines of the sentence below a plot."""
EMPTY = Content("No run has finished yet. L starts one; Try the demo at Home needs no key.")
_TREND_COLUMNS = (
    Column("model", 13, 1, is_name=True), Column("suite", 12, 1, is_name=True), Column("cases", 18, 4),
    Column("runs", 4, right=True),
    Column("last", 7, right=True), Column("over time", 13, 2),
)  # fmt: skip
_RUN_COLUMNS = (
    Column("when", 12), Column("run", 20, 3, is_name=True), Column("value", 7, right=True), Column("95 %", 13),
    Column("change", 7, right=True), Column("of", 13, right=True),
)  # fmt: skip


class TrendList(RowList):
    """One row for each model and selection of a suite."""

    def __init__(self) -> None:
        super().__init__(_TREND_COLUMNS, id="trends", classes="pane", names=True, empty=Content("reading all runs …"))
        self._trends: dict[str, Trend] = {}

    def show_trends(self, trends: Sequence[Trend]) -> None:
        self._trends = {trend.points[-1].run: trend for trend in trends}
        self.border_title = Content.assemble("Trends  ", (str(len(trends)), MUTED))
        self.show(list(self._trends), draw=self._cells, empty=EMPTY)

    @property
    def current(self) -> Trend | None:
        return self._trends.get(self.cursor or "")

    def _cells(self, key: str) -> tuple[Content, ...]:
        trend = self._trends[key]
        values = [point.value for point in trend.points]
        last = next((value for value in reversed(values) if value is not None), None)
        bars = number_format.sparkline(values, 40, None if trend.score else 1.0) if len(values) > 1 else ""
        mark = trend.simulated_note
        over_time = Content.assemble((bars, "$pass"), "  " if bars and mark else "", (mark, "$undecided"))
        return (
            one_line(trend.model, 60, "bold"),
            one_line(trend.suite, 40),
            one_line(trend.selection, 60, MUTED),
            Content(str(len(values))),
            Content("—") if last is None else one_line(trend.show(last), 20),
            over_time,
        )


class TrendRunList(RowList):
    """One row for each run of a trend, newest first."""

    def __init__(self) -> None:
        super().__init__(_RUN_COLUMNS, id="points", classes="pane", names=True, empty=Content(""))
        self._points: dict[str, Point] = {}
        self._trend: Trend | None = None

    def show_trend(self, trend: Trend | None) -> None:
        self._points = {point.run: point for point in reversed(trend.points)} if trend is not None else {}
        self._trend = trend
        measured = one_line(trend.score or "passed", 40, MUTED) if trend is not None else Content.empty()
        self.border_title = Content.assemble("Runs  ", measured)
        self.show(list(self._points), draw=self._cells)

    def _cells(self, key: str) -> tuple[Content, ...]:
        point, trend = self._points[key], self._trend
        assert trend is not None
        when = datetime.fromtimestamp(point.at, UTC).astimezone().strftime("%d %b %H:%M")
        span = number_format.bounds(point.low, point.high, number_format.number if trend.score else None)
        change = "" if point.change is None else signed(point.change, trend.show)
        style = "$pass" if (point.change or 0) > 0 else "$fail" if (point.change or 0) < 0 else MUTED
        return (
            muted(when),
            one_line(point.name or point.run, 80),
            Content("—") if point.value is None else one_line(trend.show(point.value), 20),
            muted(span),
            one_line(change, 20, style),
            muted(_basis(point)),
        )


def _basis(point: Point) -> str:
    """Return the basis of a value: cases and repeats if complete, otherwise graded and planned rollouts."""
    times, odd = divmod(point.rollouts, point.cases) if point.cases else (1, 0)
    if times > 1 and not odd and point.rollouts == point.planned:
        return f"{number_format.count(point.cases)} cases ×{times}"
    return f"{point.graded} of {point.planned}"


class TrendPlot(Static):
    """Plot of the current trend above the paired test of its last step."""

    def __init__(self) -> None:
        super().__init__(id="plot", classes="-empty")
        self._trend: Trend | None = None
        self._words = Content.empty()

    def show_trend(self, trend: Trend | None, words: str = "") -> None:
        """Show a trend; `words` give the result of the paired test once it is known."""
        self._trend, self._words = trend, one_line(words, 400, MUTED)
        self.set_class(trend is None or len(trend.points) < 2, "-empty")
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        trend, size = self._trend, self.content_size
        if trend is None or not size.width:
            return
        show = number_format.number if trend.score else number_format.rate
        wrapped = [self._words[start:end] for start, end in lines.wrap(self._words.plain, size.width)]
        words = [*wrapped[: MOST_WORDS - 1], lines.fit(Content(" ").join(wrapped[MOST_WORDS - 1 :]), size.width)]
        words = words if len(wrapped) >= MOST_WORDS else wrapped
        plot = plot_lines(trend.points, size.width, size.height - len(words), show, is_rate=not trend.score)
        self.update(Content("\n").join([*plot, *words]))


class TrendsScreen(BaseScreen):
    """All trends, with plot and runs of the current one."""

    where: ClassVar[str] = "trends"
    heading: ClassVar[str] = "Trends"
    AUTO_FOCUS: ClassVar[str | None] = "#trends"
    shown_parts: ClassVar[frozenset[str]] = frozenset({"runs"})
    DEFAULT_CSS = """
    TrendsScreen { #both { height: 1fr; } #trends { height: 3fr; } #points { height: 3fr; }
                   #plot { height: 8; padding: 0 1; &.-empty { display: none; } }
                   &.-wide #plot { height: 14; }
                   &.-empty Rule, &.-empty #points, &.-empty #plot { display: none; } }
    """

    def __init__(self, services: Services) -> None:
        """Initialize the screen; runs are read after mounting."""
        super().__init__(services)
        self.trends = TrendList()
        self.plot = TrendPlot()
        self.runs = TrendRunList()

    def compose_body(self) -> ComposeResult:
        with Container(id="both"):
            yield self.trends
            yield Rule()
            yield self.plot
            yield self.runs

    def on_mount(self) -> None:
        """Read after the first frame."""
        self.call_after_refresh(self.show_workspace, "")

    def action_reload(self) -> None:
        self.services.workspace.read_runs()

    def show_workspace(self, part: str) -> None:
        if self.services.workspace.runs_complete:
            self._read(list(self.services.workspace.runs or []))

    @work(thread=True, exclusive=True, group="trends")
    def _read(self, lines: Sequence[RunLine]) -> None:
        all_trends = trends(listed_runs(lines))
        if self.is_running:
            self.services.from_thread(self._show_trends, all_trends)

    def _show_trends(self, all_trends: Sequence[Trend]) -> None:
        self.set_class(not all_trends, "-empty")
        self.trends.show_trends(all_trends)
        self._show_runs()

    @on(RowList.RowHighlighted, "#trends")
    def _show_runs(self) -> None:
        trend = self.trends.current
        self.runs.show_trend(trend)
        self.plot.show_trend(trend, _notes(trend) if trend is not None else "")
        if trend is not None and len(trend.points) > 1:
            self._test_last_step(trend)

    @work(thread=True, exclusive=True, group="step")
    def _test_last_step(self, trend: Trend) -> None:
        """Compare the last two runs case by case and show the result."""
        before, last = (self._folder(point.run) for point in trend.points[-2:])
        if before is None or last is None:
            return
        try:
            words = verdict_words(compare(RunReader(before).side, RunReader(last).side))
        except (UsageError, OSError) as error:
            words = reason_of(error)
        if self.is_running and self.trends.current is trend:
            words = " · ".join(filter(None, (f"last step  {words.replace('B − A: ', '')}", _notes(trend))))
            self.services.from_thread(self.plot.show_trend, trend, words)

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


def _notes(trend: Trend) -> str:
    """Return the differences that make the runs of a trend hard to compare."""
    return " · ".join(filter(None, (trend.served, trend.grading)))
