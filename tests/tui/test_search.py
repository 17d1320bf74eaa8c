"""Search in all runs and the history of a case: what is listed, and where enter leads."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from support.recorded_runs import Recorder
from support.screen_text import assert_until, see, text_of
from support.searched_runs import CASE, searched_runs

from console.cli.main import run as run_command
from console.core.case import Key
from console.core.chat import Reply
from console.core.outcome import Outcome
from console.exchange.search.case_history import CaseRun
from console.exchange.search.indexing import RunFacts
from console.insight.rollout import Rollout
from console.insight.search_query import read_query
from console.store.runs import RunFolder
from console.tui.render.history_line import history_line
from console.tui.screens.search.controller import SearchController, search_runs


@pytest.fixture
def runs(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs of two models, indexed."""
    root: Path = workspace.paths.runs
    searched_runs(root, monkeypatch)
    return root


async def test_hits_by_run_lead_to_review(opened: Any, runs: Path) -> None:
    async with opened() as (app, pilot):
        await see(pilot, "7 hits in 3 of 3 runs", "S", *"refund*", "enter")
        await see(pilot, lambda: app.screen.where == "review" and "Never!" in text_of(app), "]", "enter")
        assert app.screen.controller.cursor.slot == ("refund", 0)
        assert app.screen.case_pane.search_text == "refund"
        await pilot.press("escape", "escape")
        assert app.screen.where == "search"
        await pilot.press("y", "c")
        assert app.clipboard.startswith("eval-console search 'refund*' ")
        command = app.clipboard
        await pilot.press("y", "i")
        assert app.clipboard == "refund"
    assert run_command(shlex.split(command)[1:]) == 0, "as it stands"


async def test_the_key_line_names_no_key_that_is_a_letter_of_the_line(opened: Any, runs: Path) -> None:
    async with opened((100, 30)) as (app, pilot):
        await see(pilot, "? help  : commands")
        await see(pilot, "enter keep  esc clear", "S")
        assert "? help" not in text_of(app)
        await see(pilot, "? help  : commands", *"seat*", "enter")


async def test_all_hits_of_one_run_and_what_matches_nothing(opened: Any, runs: Path) -> None:
    async with opened((100, 30)) as (app, pilot):
        await see(pilot, "… 3 more", "S", *"seat*", "enter")
        assert "enter open in Review" in text_of(app)
        await pilot.press("j", "j", "j")
        await see(pilot, "enter list all of this run")
        await pilot.press("enter")
        await assert_until(pilot, lambda: "6 hits in 1 of 3 runs" in text_of(app) and "case-4" in text_of(app))
        await see(pilot, "None of 10 conversations in 3 runs matches", "slash", *" xylophone", "enter")
        await see(pilot, "… 3 more", "1", "S", *"seat*", "enter")
        await see(pilot, "Did you mean failed", "slash", "escape", "slash", *"is:faild")


async def test_history_of_the_shown_case(opened: Any, runs: Path) -> None:
    async with opened() as (app, pilot):
        app.navigator.open_review(next(run.folder for run in app.services.workspace.runs if run.name == "b"),
                                  (CASE, 0))  # fmt: skip
        await see(pilot, "history ✗≠✓ · careful ✓  (I)")
        await see(pilot, "other data", "I")
        await pilot.press(*"careful", "enter")
        await assert_until(pilot, lambda: "Two seats, as you wish" in text_of(app) or app.screen.shown_run.name == "c")
        assert app.screen.controller.cursor.slot == (CASE, 0)


async def test_the_index_is_made_by_a_process_of_its_own(opened: Any, workspace: Any) -> None:
    recorder = Recorder(workspace.paths.runs, cases=1, name="a")
    key = recorder.start("x")
    recorder.ask(key, "Hello", Reply("a zebra"))
    recorder.finish(key, Outcome.PASSED)
    recorder.close()
    async with opened() as (app, pilot):
        await see(pilot, "1 hit in 1 of 1 run", "S", *"zebra", "enter")
        assert not app.services.search_indexing.mistake


def test_the_controller_steps_by_runs_and_keeps_foreign_text_as_it_is(runs: Path) -> None:
    controller = SearchController()
    assert controller.type("refund")
    assert not controller.type("  refund ")
    controller.begin()
    coverage, *found = search_runs(runs, read_query("refund"), lambda: False)
    controller.use_coverage(coverage)  # type: ignore[arg-type]
    for hits in found:
        controller.add(hits)  # type: ignore[arg-type]
    keys = controller.rows()
    assert [key for key in keys if key in controller.headings] == ["run c", "run b", "run a"]
    first = controller.step(None, 0)
    assert controller.step(first, 1) == "hit b/refund/0"
    assert controller.step("hit a/refund/0", 1) is None
    assert [controller.matched_text(hit) for _, hit in map(controller.row, ("hit b/refund/0",)) if hit] == ["refund"]
    controller.begin(again=True)  # in a newer index: the hits stay until it has ended
    assert controller.rows() == keys
    controller.end()
    assert controller.rows() == []
    assert list(search_runs(runs / "nowhere", read_query("refund"), lambda: False)) == [None]


def test_a_history_leaves_out_models_as_a_whole_and_keeps_the_newest_runs(tmp_path: Path) -> None:
    passed = Rollout(Key(CASE), 0, outcome=Outcome.PASSED)
    models = ("hasty", "hasty", "careful", "rambling")
    runs = [
        CaseRun(RunFolder(tmp_path / str(place)), RunFacts(0.0, "s", model), (passed,), "d")
        for place, model in enumerate(models)
    ]

    def shown(width: int) -> str:
        return history_line(runs, runs[0].folder, "hasty", "I", width).plain

    assert shown(44) == "history ✓✓ · careful ✓ · rambling ✓  (I)"
    assert shown(39) == "history ✓✓ · careful ✓ · rambling ✓"
    assert shown(34) == "history ✓✓ · careful ✓ · 1 more"
    assert shown(20) == "history ✓✓ · 2 more"
    assert shown(18) == "history ✓✓"
    assert shown(9) == ""
