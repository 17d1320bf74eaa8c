"""Asking a case anew from Review: another model, an edited prompt, as a run of its own that opens in Compare."""

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest
from support.recorded_runs import QUESTION, Recorder, WeatherSuite, plain_run
from support.run_suites import compare_by
from support.screen_text import assert_until, text_of
from tui.test_review_screen import review

from console.core.chat import Reply
from console.core.outcome import Outcome
from console.engine import launch
from console.engine.plan import Plan
from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.screens.compare.screen import CompareScreen


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch, workspace: Any) -> list[Plan]:
    """Take plans instead of starting engines; the branch that is shown is another recorded run."""
    plans: list[Plan] = []

    def spawn(asked: Sequence[Plan]) -> list[RunFolder]:
        plans.extend(asked)
        return [plain_run(workspace.root / "runs", name="0118-branch").folder]

    monkeypatch.setattr(launch, "spawn", spawn)
    compare_by(monkeypatch, WeatherSuite())
    monkeypatch.setattr(ConsoleApp, "suspend", lambda self: contextlib.nullcontext())
    return plans


def editor(workspace: Any, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = workspace.root / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(path))


async def test_an_edited_prompt_is_asked_as_a_branch_and_compared(
    opened: Any, workspace: Any, planned: list[Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(workspace, monkeypatch, 'echo "In Kelvin, please." >> "$1"')
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        await review(app, pilot, folder)
        await pilot.press("A")
        await assert_until(pilot, lambda: "edit the prompt" in text_of(app))
        await pilot.press("e")
        await assert_until(pilot, lambda: "about $0.00" in text_of(app))
        await pilot.press("y")
        await assert_until(
            pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.controller.pair is not None
        )
        (plan,) = planned
        assert (plan.parent, plan.selection.ids, plan.model) == (folder.name, ("live_multiple_118-41",), "gpt-x")
        assert plan.edit is not None
        assert plan.edit.before[-1]["content"] + "\nIn Kelvin, please." == plan.edit.after[-1]["content"]
        assert app.screen.controller.folders[0].path == folder.path


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_of_a_branch_the_prompt_comes_first_and_nothing_is_reckoned(
    size: tuple[int, int], opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_by(monkeypatch, WeatherSuite())
    root = workspace.root / "runs"
    run = plain_run(root).folder
    branch = Recorder(root, cases=1, name="0118-edited", parent=run.name)
    key = branch.start("live_multiple_118-41", "live_multiple", QUESTION)
    branch.ask(key, f"{QUESTION}\nIn Kelvin, please.", Reply("in kelvin"))
    branch.finish(key, Outcome.PASSED, "")
    async with opened(size) as (app, pilot):
        app.navigator.open_compare(run, branch.close())
        await assert_until(pilot, lambda: "+ user: In Kelvin, please." in text_of(app))
        shown = text_of(app)
        assert "A failed, B passed" in shown
        assert shown.index("the prompt differs") < shown.index("EXPECTED")
        for word in ("95%", "gained", "p = ", "B ✓"):
            assert word not in shown, word
        await pilot.press("i")
        await assert_until(pilot, lambda: "Numbers" in text_of(app))
        assert "significance" not in text_of(app)


@pytest.mark.parametrize(("script", "why"), [("true", "was not changed"), ('echo x > "$1"', "does not begin with")])
async def test_a_prompt_left_as_it_was_or_that_cannot_be_read_is_refused(
    opened: Any, workspace: Any, planned: list[Plan], monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    editor(workspace, monkeypatch, script)
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        await review(app, pilot, folder)
        await pilot.press("A", "e")
        await assert_until(pilot, lambda: any(why in it.plain for it in app.services.messages))
        assert not planned


async def test_another_model_is_chosen_from_those_that_are_ready(
    opened: Any, workspace: Any, planned: list[Plan]
) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with opened() as (app, pilot):
        await review(app, pilot, folder)
        await pilot.press("A", "m")
        await assert_until(pilot, lambda: "sim/careful" in text_of(app))
        assert "claude-y" not in text_of(app)
        await pilot.press("enter")
        await assert_until(pilot, lambda: bool(planned))
        assert planned[0].model.startswith("sim/")
        assert planned[0].edit is None


async def test_two_marks_open_compare(opened: Any, workspace: Any, planned: list[Plan]) -> None:
    first = plain_run(workspace.root / "runs").folder
    second = plain_run(workspace.root / "runs", name="0119-other").folder
    async with opened() as (app, pilot):
        await review(app, pilot, first)
        await pilot.press("m")
        assert "Marked as A" in app.services.messages[-1].plain
        await review(app, pilot, second)
        await pilot.press("m")
        await assert_until(
            pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.controller.pair is not None
        )
        assert [it.path for it in app.screen.controller.folders] == [first.path, second.path]
