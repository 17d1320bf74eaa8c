"""Compare beyond two finished runs: growing ones, ones that vanish, more than two, trends, and asking again."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from support.compared_runs import CallSuite, call_run
from support.quick_rows import first_size
from support.recorded_runs import QUESTION, Recorder, call_reply
from support.run_suites import compare_by
from support.screen_text import assert_until, see, text_of, wait_until_unchanged

from console.core.case import Key
from console.core.grader import Grader
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.engine import launch
from console.engine.plan import Plan
from console.insight.comparison import Agreement
from console.store.notes import Note, Notes
from console.store.runs import RunFolder
from console.tui.render.comparison import fitting_checks
from console.tui.screens.compare import controller
from console.tui.screens.compare.screen import CompareScreen
from console.tui.screens.grid.screen import GridScreen
from console.tui.screens.trends.screen import TrendsScreen
from console.tui.widgets.row_list import RowList

SIZES = [(80, 24), (160, 45)]


@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay recorded calls side by side, and look for growth often."""
    compare_by(monkeypatch, CallSuite())
    monkeypatch.setattr(controller, "LOOK_EVERY_S", 0.05)


@pytest.fixture
def two(workspace: Any) -> tuple[RunFolder, RunFolder]:
    runs = workspace.root / "runs"
    return call_run(runs, "0116-0904-bfcl-gpt-w", "gpt-w", 0), call_run(runs, "0117-1420-bfcl-gpt-x", "gpt-x", 1)


async def read(app: Any, pilot: Any) -> CompareScreen:
    await assert_until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.controller.pair is not None)
    await wait_until_unchanged(app, pilot)
    return app.screen


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_numbers_are_one_key_away(size: Any, opened: Any, two: Any, assert_frame: Any) -> None:
    Notes(two[1].path).add(Note(Key("live_multiple_131-52"), "dispute", "wrong"))
    async with opened(size) as (app, pilot):
        app.navigator.open_compare(*two)
        await read(app, pilot)
        await see(pilot, "by error type", "i", "tab", "z")
        shown = text_of(app)
        assert "exact McNemar" in shown
        assert "bootstrap 95%" in shown
        assert "0 disputed in A, 1 in B" in shown
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"compare-numbers-{size[0]}x{size[1]}")


async def test_cases_with_another_prompt_are_counted_and_listed(opened: Any, workspace: Any) -> None:
    runs = workspace.root / "runs"
    a, b = call_run(runs, "a", "gpt-w", 0, asks="none"), call_run(runs, "b", "gpt-x", 1, asks="live_simple_90-45-0")
    async with opened((130, 36)) as (app, pilot):
        app.navigator.open_compare(a, b)
        screen = await read(app, pilot)
        assert "prompt differs in 1 case (f p shows them)" in text_of(app)
        await pilot.press("f", "p")
        await wait_until_unchanged(app, pilot)
        assert [pair.slot[0] for pair in screen.controller.changes.values()] == ["live_simple_90-45-0"]
    async with opened((80, 24)) as (app, pilot):
        app.navigator.open_compare(a, b)
        await read(app, pilot)
        assert "same cases ✓  prompt differs in 1 (f p) !" in text_of(app)


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (79, "8 cases differ, prompts too (f p shows them) !  graded differently"),
        (60, "8 cases differ, prompts too (f p) !  graded differently"),
        (38, "8 cases differ, prompts too !  other grading"),
    ],
)
def test_no_difference_of_two_runs_is_left_out_of_the_top_line(two: Any, room: int, shown: str) -> None:
    comparison = controller.read_pair(*two, None).comparison
    for side, judge in ((comparison.a, "a"), (comparison.b, "b")):
        side.manifest = msgspec.structs.replace(side.manifest, grader=Grader("bfcl", judge))
    comparison = replace(comparison, data=Agreement(0, 8), prompts=Agreement(0, 8))
    assert fitting_checks(comparison, room, wide=room > 60, live=(False, False)).plain == shown


async def test_a_run_that_has_played_nothing_is_not_judged(opened: Any, workspace: Any, two: Any) -> None:
    begun = Recorder(workspace.root / "runs", cases=3, name="0118-new", suite="bfcl", model=ModelFacts("gpt-y"))
    async with opened((80, 24)) as (app, pilot):
        app.navigator.open_compare(two[0], begun.folder)
        await read(app, pilot)
        shown = text_of(app)
        assert "B has played no case yet. p picks another run." in shown
        assert "no case is graded in both runs yet" in shown
        assert "not known" not in shown
    begun.close()


async def test_a_pane_that_stands_alone_is_named(opened: Any, two: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        app.navigator.open_compare(*two)
        await read(app, pilot)
        assert "CHANGED" not in text_of(app)
        await see(pilot, "CHANGED  4", "z")
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_compare(*two)
        screen = await read(app, pilot)
        case = screen.controller.current.slot[0]
        assert f"A gpt-w  {case}" not in text_of(app)
        await see(pilot, f"A gpt-w  {case}", "tab", "tab", "z")
        await see(pilot, f"B gpt-x  {case}", "tab")
        await see(pilot, lambda: f"B gpt-x  {case}" not in text_of(app), "z")


async def test_a_run_that_grows_is_followed(opened: Any, workspace: Any, two: Any) -> None:
    model = ModelFacts("gpt-y")
    growing = Recorder(workspace.root / "runs", cases=3, name="0118-live", suite="bfcl", live=True, model=model)
    async with opened() as (app, pilot):
        app.navigator.open_compare(two[0], growing.folder)
        screen = await read(app, pilot)
        assert "● B live" in text_of(app)
        assert "No case has ended in both runs yet; B is live." in text_of(app)
        key = growing.start("live_multiple_131-52", "live_multiple", QUESTION)
        growing.ask(key, QUESTION, call_reply("get_current_weather", "{}"))
        growing.finish(key, Outcome.FAILED, "value_error:string", "unit", output={"unit": "'kelvin'"})
        await assert_until(
            pilot, lambda: len(screen.controller.pair.comparison.pairs) == 1 and "kelvin" in text_of(app)
        )
        growing.close()
        await assert_until(pilot, lambda: "● B live" not in text_of(app))


async def test_a_folder_that_vanishes_meanwhile_is_said(opened: Any, two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller, "LOOK_EVERY_S", 60.0)  # it is the reader who finds out
    async with opened() as (app, pilot):
        app.navigator.open_compare(*two)
        await read(app, pilot)
        shutil.rmtree(two[1].path)
        await see(pilot, "can no longer be read", "n")
        await see(pilot, "this is not a run folder", "ctrl+r")


async def test_the_lost_are_asked_again_as_a_run_of_their_own(
    opened: Any, two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Plan] = []

    def spawn(asked: Sequence[Plan]) -> list[RunFolder]:
        plans.extend(asked)
        return [two[0]]

    monkeypatch.setattr(launch, "spawn", spawn)
    async with opened() as (app, pilot):
        app.navigator.open_compare(*two)
        await read(app, pilot)
        await see(pilot, "Rerun the 3 lost with", "R")
        await see(pilot, lambda: bool(plans), "y")
        assert plans[0].parent == two[1].name
        assert set(plans[0].selection.ids) == {"live_multiple_131-52", "live_multiple_140-58", "live_simple_77-40-0"}


async def test_a_third_run_is_added_from_compare(opened: Any, workspace: Any, two: Any) -> None:
    call_run(workspace.root / "runs", "0118-0900-bfcl-gpt-y", "gpt-y", 0)
    async with opened() as (app, pilot):
        app.navigator.open_compare(*two)
        await read(app, pilot)
        await see(pilot, "Add a run to A and B", "+")
        await see(pilot, lambda: isinstance(app.screen, GridScreen) and len(app.screen.controller.runs) == 3, "enter")
        assert "3 runs" in text_of(app)


async def test_the_last_step_of_a_trend_is_wrapped_before_it_is_cut(opened: Any, workspace: Any) -> None:
    for day, passed in ((2, 3), (1, 6)):
        workspace.run(f"2025-01-1{7 - day}T0900-a", passed=passed, failed=10 - passed, age_days=day)
    async with opened() as (app, pilot):
        await see(pilot, lambda: isinstance(app.screen, TrendsScreen) and "last step" in text_of(app), "H")
        trend, words = app.screen.trends.current, [f"word-{number:02}" for number in range(40)]
        app.screen.plot.show_trend(trend, " ".join(words[:15]))
        await see(pilot, words[14])
        app.screen.plot.show_trend(trend, " ".join(words))
        await see(pilot, "…")
        assert words[16] in text_of(app)


@pytest.mark.parametrize("size", first_size(SIZES))
async def test_trends_follow_a_model_and_lead_to_its_runs(
    size: Any, opened: Any, workspace: Any, assert_frame: Any
) -> None:
    workspace.run("2025-01-15T0900-a", passed=3, failed=7, age_days=2)
    workspace.run("2025-01-16T0900-b", passed=6, failed=4, age_days=1)
    async with opened(size) as (app, pilot):
        await see(pilot, lambda: isinstance(app.screen, TrendsScreen) and "last step" in text_of(app), "H")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"trends-{size[0]}x{size[1]}")
        await see(pilot, lambda: app.screen.query_one("#points", RowList).has_focus, "enter")
        await pilot.press("m", "j", "m")
        screen = await read(app, pilot)
        assert {it.name for it in screen.controller.folders} == {"2025-01-15T0900-a", "2025-01-16T0900-b"}
