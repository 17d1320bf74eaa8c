"""The lists of Home, each mounted alone."""

from pathlib import Path

from support.pane_app import mounted
from support.sample_workspace import SampleWorkspace
from support.screen_text import text_of

from console.tui.data.models import read_models
from console.tui.data.runs import read_run
from console.tui.data.suites import read_suites
from console.tui.screens.home.controller import NextSteps, RunListing
from console.tui.screens.home.lists import ModelList, RunDetails, RunList, StartList, SuiteList
from console.tui.widgets.row_list import RowList


def listing(workspace: SampleWorkspace, marked: frozenset[Path] = frozenset(), words: str = "") -> RunListing:
    lines = [read_run(workspace.run("2025-01-17T1320-a", passed=2, failed=1)),
             read_run(workspace.run("2025-01-16T0900-b", passed=1))]  # fmt: skip
    return RunListing(lines, 5, words, "newest first", marked)


async def test_runs_are_listed_and_the_cursor_and_enter_are_posted(workspace: SampleWorkspace) -> None:
    pane = RunList()
    async with mounted(pane, (100, 10)) as (app, pilot):
        runs = listing(workspace)
        pane.set_listing(runs, is_complete=True, mistake="")
        await pilot.press("j", "enter")
        await pilot.pause()
        assert pane.line == runs.lines[1]
        assert [message.key for message in app.posted_of(RowList.RowChosen)] == [str(runs.lines[1].folder.path)]
        assert "small-talk" in text_of(app)


async def test_an_empty_list_of_runs_says_why(workspace: SampleWorkspace) -> None:
    pane = RunList()
    async with mounted(pane) as (app, pilot):
        for listed, is_complete, mistake, words in (
            (RunListing([], 0, "", "", frozenset()), False, "", "reading runs"),
            (RunListing([], 0, "", "", frozenset()), True, "", "Nothing has been run yet"),
            (RunListing([], 4, "[/x]", "", frozenset()), True, "", "No run matches “[/x]”"),
            (RunListing([], 0, "", "", frozenset()), True, "[/x]\x1b denied", "[/x]^[ denied"),
        ):
            pane.set_listing(listed, is_complete=is_complete, mistake=mistake)
            await pilot.pause()
            assert words in text_of(app)


async def test_a_marked_run_carries_its_letter(workspace: SampleWorkspace) -> None:
    pane = RunList()
    async with mounted(pane, (100, 10)) as (app, pilot):
        lines = listing(workspace).lines
        pane.set_listing(RunListing(lines, 2, "", "", frozenset({lines[1].folder.path})), is_complete=True, mistake="")
        await pilot.pause()
        assert [line.strip(" >")[0] == "A" for line in text_of(app).splitlines() if "small-talk" in line] == [
            False,
            True,
        ]


async def test_a_run_is_described_or_none(workspace: SampleWorkspace) -> None:
    pane = RunDetails()
    async with mounted(pane) as (app, pilot):
        pane.describe(None)
        await pilot.pause()
        assert "No run is under the cursor" in text_of(app)
        pane.describe(listing(workspace).lines[0])
        await pilot.pause()
        assert "2025-01-17T1320-a  finished" in text_of(app)


async def test_models_and_suites_say_what_stands_in_their_way(workspace: SampleWorkspace) -> None:
    models = ModelList()
    async with mounted(models) as (app, pilot):
        assert "reading models" in text_of(app)
        models.set_models(read_models(workspace.paths))
        await pilot.pause()
        assert "set DESK_KEY_THAT_IS_NOT_SET" in text_of(app)
        assert models.name_of(models.keys[0]) == "gpt-x"
    suites = SuiteList()
    async with mounted(suites) as (app, pilot):
        assert "reading suites" in text_of(app)
        suites.set_suites(read_suites(workspace.paths))
        await pilot.pause()
        assert "6 cases" in text_of(app)
        assert suites.note_of("= small-talk") == ""


async def test_the_start_list_offers_only_what_makes_sense(workspace: SampleWorkspace) -> None:
    pane = StartList()
    async with mounted(pane) as (app, pilot):
        pane.set_steps(NextSteps(), wide=False, most=9)
        assert pane.keys == ["demo", "new"]
        run = listing(workspace).lines[0]
        pane.set_steps(NextSteps(queued=[run], is_stranded=True, resumable=run, failed=run), wide=True, most=9)
        pane.set_starting(True)
        await pilot.press("G", "enter")
        await pilot.pause()
        assert [key for key in pane.keys if key not in StartList.FIXED] == [
            "demo",
            "new",
            "queue",
            "resume",
            "failures",
        ]
        assert [message.key for message in app.posted_of(RowList.RowChosen)] == ["failures"]
        assert "starting …" in text_of(app)
        assert "1 run waits, queue stopped" in text_of(app)
