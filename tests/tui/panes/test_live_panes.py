"""The panes of Live, each mounted alone over a run that was played."""

from pathlib import Path

import pytest
from support.pane_app import mounted
from support.recorded_runs import plain_run
from support.screen_text import text_of

from console.core.case import Case, Key
from console.core.chat import Reply
from console.core.record import Asked, Started, Tried
from console.insight.overview import Overview
from console.store.journal import JournalReader
from console.store.runs import RunFolder
from console.tui.data.runs import read_run
from console.tui.screens.live.conversation_grid import ConversationGrid
from console.tui.screens.live.lists import FailureList, LiveRunsPanel, ProblemList
from console.tui.screens.live.standard_view import STANDARD
from console.tui.widgets.row_list import RowList


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return plain_run(tmp_path).folder


@pytest.fixture
def overview(folder: RunFolder) -> Overview:
    """What is known of the run when all of its journal is read."""
    overview = Overview()
    for record in JournalReader(folder.journal_path).read_new():
        overview.apply(record)
    return overview


async def test_failures_are_listed_latest_first(overview: Overview) -> None:
    pane = FailureList()
    async with mounted(pane) as (app, pilot):
        assert "No failure so far" in text_of(app)
        pane.show_failures(overview, is_live=True)
        await pilot.press("g", "enter")
        await pilot.pause()
        assert len(pane.keys) == 7
        assert [message.key for message in app.posted_of(RowList.RowChosen)] == [pane.keys[0]]
        assert "live_multiple_9-4-1" in text_of(app).splitlines()[0]


async def test_problems_are_listed_latest_first(overview: Overview) -> None:
    pane = ProblemList()
    async with mounted(pane) as (app, pilot):
        assert "No waits, retries or errors" in text_of(app)
        pane.show_problems(overview)
        await pilot.pause()
        assert pane.keys == ["1", "0"]
        assert "server" in text_of(app)
        assert "rate limit" in text_of(app)


async def test_what_keeps_failing_stands_above_the_problems() -> None:
    overview, pane = Overview(), ProblemList()
    case = Case("c", "some", {})
    overview.apply(Started(at=1.0, key=Key("c", 0, 1), case=case))
    for at in (1.0, 2.0):
        overview.apply(Tried(at=at, key=Key("c", 0, 1), n=1, kind="server", message="500", wait_s=1.0))
    async with mounted(pane) as (app, pilot):
        pane.show_problems(overview)
        await pilot.pause()
        assert "1 request keeps failing, none succeeds" in text_of(app).splitlines()[0]
        overview.apply(Asked(at=9.0, key=Key("d", 0, 1), n=1, digest="d", reply=Reply("yes")))
        pane.show_problems(overview)
        await pilot.pause()
        assert "1 request keeps failing, others fine" in text_of(app).splitlines()[0]
        overview.apply(Asked(at=9.5, key=Key("c", 0, 1), n=1, digest="d", reply=Reply("yes")))
        pane.show_problems(overview)
        await pilot.pause()
        assert pane.keys == ["1", "0"]


async def test_a_run_beside_is_chosen(folder: RunFolder, tmp_path: Path) -> None:
    other = plain_run(tmp_path, name="0117-1500-other").folder
    lines = [read_run(folder), read_run(other)]
    pane = LiveRunsPanel()
    async with mounted(pane) as (app, pilot):
        pane.show_runs(lines, {}, watched=other.path)
        assert pane.cursor == str(other.path)
        await pilot.press("j", "enter")
        await pilot.pause()
        assert [message.line for message in app.posted_of(LiveRunsPanel.RunChosen)] == [lines[0]]


async def test_the_grid_makes_tiles_as_they_are_needed() -> None:
    pane = ConversationGrid(STANDARD)
    async with mounted(pane, (160, 40)) as (_, pilot):
        for shape, count in (((1, 1), 1), ((2, 2), 4), ((1, 2), 2)):
            await pane.lay_out(shape)
            await pilot.pause()
            assert len(pane.tiles) == count
            assert all(tile.display for tile in pane.tiles)
