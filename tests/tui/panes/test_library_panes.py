"""The cases of Library and the lists of Trends, each mounted alone."""

from support.pane_app import mounted
from support.sample_workspace import SampleWorkspace
from support.screen_text import text_of

from console.insight.trends import Point, Trend
from console.tui.data.suites import read_suites
from console.tui.screens.library.lists import CaseList, read_cases
from console.tui.screens.trends.screen import TrendList, TrendRunList


async def test_cases_are_expected_read_and_narrowed(workspace: SampleWorkspace) -> None:
    pane = CaseList()
    async with mounted(pane) as (app, pilot):
        pane.expect("small-talk", "what")
        await pilot.pause()
        assert "reading cases" in text_of(app)
        pane.set_cases(*read_cases(read_suites(workspace.paths), "small-talk", "what"))
        pane.narrow("BENCH what")
        await pilot.pause()
        assert pane.case is not None
        assert pane.case.id == "what-3"
        pane.narrow("zzz")
        await pilot.pause()
        assert "No case matches “zzz”" in text_of(app)
        pane.set_cases([], "cannot be read: [/x]")
        await pilot.pause()
        assert "cannot be read: [/x]" in text_of(app)


def made_trend(model: str, *rates: float) -> Trend:
    points = (
        Point(f"{model}-{n}", 1.0 + n, "completed", rate, None, None, 8, 8, 0.1, 0, None)
        for n, rate in enumerate(rates)
    )
    return Trend(model, "small-talk", "8 cases", "", "", tuple(points))


async def test_the_runs_of_a_trend_are_listed_newest_first() -> None:
    trends, runs = TrendList(), TrendRunList()
    async with mounted(trends, (120, 8)) as (app, pilot):
        trends.show_trends([])
        await pilot.pause()
        assert "No run has finished yet" in text_of(app)
        trend = made_trend("gpt-x", 0.5, 0.75)
        trends.show_trends([made_trend("gpt-w", 0.1), trend])
        await pilot.press("j")
        await pilot.pause()
        assert trends.current == trend
        assert ".750" in text_of(app)
    async with mounted(runs, (120, 8)) as (app, pilot):
        runs.show_trend(trend)
        await pilot.pause()
        assert runs.keys == ["gpt-x-1", "gpt-x-0"]
        assert "8 of 8" in text_of(app)
        runs.show_trend(None)
        assert runs.keys == []
