"""Going on from a message in Review: another model, an edited text, as a run of its own that opens in Compare."""

import asyncio
import contextlib
import re
import shlex
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_size
from support.recorded_runs import QUESTION, Recorder, WeatherSuite, plain_run
from support.review_opening import review, reviewing
from support.row_suite import write_folder
from support.run_suites import compare_by
from support.screen_text import assert_until, see, text_of

from console.core.chat import Reply
from console.core.experiment import Beginning, Change
from console.core.outcome import Outcome
from console.core.run import Selection
from console.engine import launch
from console.engine.engine import Engine
from console.engine.experiment import experiment_plan
from console.engine.plan import Plan
from console.exchange.tried import draw_strata
from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.screens.compare.screen import CompareScreen

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch, workspace: Any) -> list[Plan]:
    """Take plans instead of starting engines; the branch that is shown is another recorded run."""
    plans: list[Plan] = []

    def spawn(asked: Sequence[Plan]) -> list[RunFolder]:
        plans.extend(asked)
        return [plain_run(workspace.root / "runs", name="0118-branch").folder]

    monkeypatch.setattr(launch, "spawn", spawn)
    monkeypatch.setattr(ConsoleApp, "suspend", lambda self: contextlib.nullcontext())
    return plans


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, workspace: Any) -> RunFolder:
    """A played run of one conversation of several steps."""
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    data, selection = workspace.root / "data", Selection(("multi_turn_base",), limit=1)
    data.mkdir(exist_ok=True)
    (data / "bfcl-starter").symlink_to(DATA / "bfcl-starter")
    plan = Plan("sim/careful", "bfcl-starter", selection, mode="fc", paths=workspace.paths)
    folder, prepared = launch.start(plan)
    thread = threading.Thread(target=lambda: asyncio.run(Engine(folder, prepared).run()))
    thread.start()
    thread.join()
    return folder


def editor(workspace: Any, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = workspace.root / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(path))


def text_in(path: str) -> str:
    return Path(path).read_text("utf-8")


async def read_talk(app: ConsoleApp, pilot: Any, folder: RunFolder) -> None:
    await review(app, pilot, folder)
    await see(pilot, "[Talk]", "f", "a", "i")


async def test_from_a_message_a_result_is_edited_and_gone_on_with(
    opened: Any, workspace: Any, planned: list[Plan], talk: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(workspace, monkeypatch, 'echo "It failed." > "$1"')
    async with opened() as (app, pilot):
        await read_talk(app, pilot, talk)
        await see(pilot, "Go on from 1.1", "A", "h")
        assert "it was   called" in text_of(app)
        await see(pilot, "as it was", "e")
        await see(pilot, "+It failed.", *"result", "enter")
        await see(pilot, ", 4 times", "k")
        await see(pilot, lambda: isinstance(app.screen, CompareScreen), "y")
    (plan,) = planned
    assert (plan.parent, plan.rollouts, plan.model) == (talk.name, 4, "sim/careful")
    assert plan.experiment is not None
    ((change,),) = plan.experiment.arms
    assert (change.what, change.after[0]["content"]) == ("result", "It failed.")
    assert [beginning.replies for beginning in plan.experiment.beginnings.values()] == [1]


async def test_the_form_gives_the_command_that_does_the_same(
    opened: Any, workspace: Any, planned: list[Plan], talk: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(workspace, monkeypatch, 'echo "Be kind." > "$1"')
    async with opened((130, 36)) as (app, pilot):
        await read_talk(app, pilot, talk)
        await see(pilot, "Go on from 1.1", "A", "h")
        await see(pilot, "Go on from …", "f")
        await see(pilot, "Go on from 1.2", "1", ".", "2", "enter")
        await see(pilot, "as it was", "e")
        await see(pilot, "+Be kind.", *"system", "enter")
        await see(pilot, lambda: "branch" in app.clipboard, "c")
    words = shlex.split(app.clipboard)
    assert words[1:5] == ["branch", f"{talk.name}#multi_turn_base_0", "--at", "1.2"]
    setting = words[words.index("--set") + 1]
    assert setting.startswith("system=")
    assert text_in(setting.removeprefix("system=")) == "Be kind.\n"
    assert not planned


async def test_a_change_is_tried_on_what_is_listed_in_six_keys_beside_the_edit(
    opened: Any, workspace: Any, planned: list[Plan], talk: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(workspace, monkeypatch, 'echo "Be kind." > "$1"')
    async with reviewing(opened, talk) as (app, pilot, _):
        await see(pilot, "multi_turn_base_0", "f", "a")
        await see(pilot, "as it was", "A", "t")
        await see(pilot, "Try another system", "enter")
        assert "1 of 1 chosen" in text_of(app)
        await see(pilot, lambda: bool(planned), "y")
    assert planned[0].experiment is not None
    ((change,),) = planned[0].experiment.arms
    assert (change.what, change.after) == ("system", "Be kind.")
    assert [stratum.size for stratum in planned[0].experiment.strata] == [1, 0, 0]


async def test_the_form_of_a_trial_says_that_prompts_differ_and_takes_another_model(
    opened: Any, workspace: Any, planned: list[Plan], talk: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prompts of BFCL without native tools hold the functions of their case."""
    editor(workspace, monkeypatch, 'echo "Dates as YYYY-MM-DD." >> "$1"')
    selection = Selection(("simple_python",), limit=4)
    plan = Plan("sim/hasty", "bfcl-starter", selection, mode="prompt", paths=workspace.paths)
    folder, prepared = launch.start(plan)
    await asyncio.to_thread(lambda: asyncio.run(Engine(folder, prepared).run()))
    async with reviewing(opened, folder, size=(130, 36)) as (app, pilot, _):
        await pilot.press("f", "a")
        await see(pilot, "as it was", "A", "t")
        await see(pilot, "system differs from case to case", "enter")
        await see(pilot, "Go on with", "m")
        await see(pilot, "model    sim/careful", *"careful", "enter")
        await see(pilot, lambda: "-m sim/careful" in app.clipboard, "c")
    assert not planned


async def test_of_a_trial_the_report_is_shown_and_its_cases_are_opened(
    opened: Any, workspace: Any, planned: list[Plan], talk: RunFolder
) -> None:
    change = Change("system", "Be kind.", "Be quick.")
    strata, luck = draw_strata(talk, ["multi_turn_base_0"])
    plan = experiment_plan(
        talk, ["multi_turn_base_0"], arms=((change,),), strata=strata, luck=luck, paths=workspace.paths
    )
    folder, prepared = launch.start(plan)
    await asyncio.to_thread(lambda: asyncio.run(Engine(folder, prepared).run()))
    async with opened() as (app, pilot):
        await read_talk(app, pilot, folder)
        await see(pilot, "whole suite is unknown, as only 1", "A", "t")
        assert "+Be kind." in text_of(app)
        await pilot.press("o")
        verdict = "fixed" if folder.summary().tally.passed else "unchanged"
        await assert_until(pilot, lambda: verdict in text_of(app) and "type to filter" in text_of(app))
        await see(pilot, lambda: "type to filter" not in text_of(app), "enter")
        assert "multi_turn_base_0" in text_of(app)
    assert not planned


@pytest.fixture
def hundred_failures(monkeypatch: pytest.MonkeyPatch, workspace: Any) -> RunFolder:
    """A played run of 220 cases of which about 100 failed."""
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    rows = [
        {"id": f"sum-{n}", "system": "Answer with a number.", "prompt": f"What is {n} + {n}?",
         "expect": [{"number": 2 * n}], "simulated": {"right": [f"{2 * n}"], "wrong": [f"{2 * n + 1}"]}}
        for n in range(220)
    ]  # fmt: skip
    write_folder(workspace.root / "data" / "sums", rows)
    plan = Plan("sim/hasty", "sums", Selection(), paths=workspace.paths)
    folder, prepared = launch.start(plan)
    thread = threading.Thread(target=lambda: asyncio.run(Engine(folder, prepared).run()))
    thread.start()
    thread.join()
    return folder


@pytest.mark.parametrize("size", first_size([(80, 24), (130, 36)]))
async def test_from_a_hundred_failures_to_the_sentence_of_a_trial_in_four_keys_beside_the_edit(
    size: tuple[int, int], opened: Any, workspace: Any, hundred_failures: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial is played by an engine of its own; its report opens in Live when it has ended."""
    failed = hundred_failures.summary().tally.failed
    assert 80 <= failed <= 120
    editor(workspace, monkeypatch, 'echo "Be kind." > "$1"')
    monkeypatch.setattr(ConsoleApp, "suspend", lambda self: contextlib.nullcontext())
    async with reviewing(opened, hundred_failures, size=size) as (app, pilot, _):
        await see(pilot, "as it was", "A", "t")
        await pilot.press("enter")  # the first row is the system prompt, which the editor opens
        await see(pilot, "Try another system")
        assert f"{failed} of {failed} chosen" in words_of(app)
        await pilot.press("y")
        sentence = rf"of {failed} failures \d+ pass now \(about \d+ would anyway\), of {failed} passed \d+ fail"
        await assert_until(pilot, lambda: re.search(sentence, words_of(app)), patience_s=60)
        assert "on the whole suite" in words_of(app)


def words_of(app: ConsoleApp) -> str:
    """The text of the dialog as one line."""
    return " ".join(" ".join(re.findall("│(.*?)│", text_of(app))).split())


async def test_the_step_that_decided_is_searched_for_and_drawn_in_the_case_pane(
    opened: Any, workspace: Any, talk: RunFolder
) -> None:
    """The search is the command that the form shows, in a process of its own."""
    said = {"content": "I would rather not.", "tool_calls": []}
    beginnings = {"multi_turn_base_0": Beginning(1, 0, 1)}
    plan = experiment_plan(
        talk, ["multi_turn_base_0"], arms=((Change("reply", said),),), beginnings=beginnings,
        paths=workspace.paths,
    )  # fmt: skip
    folder, prepared = launch.start(plan)
    await asyncio.to_thread(lambda: asyncio.run(Engine(folder, prepared).run()))
    assert folder.summary().tally.failed == 1
    async with reviewing(opened, folder, size=(130, 36)) as (app, pilot, _):
        await see(pilot, "Which step decided", "A", "d")
        assert "at most" in text_of(app)
        await pilot.press("y")
        await assert_until(pilot, lambda: "◀ here" in text_of(app), patience_s=240)
        assert "[Branches]" in text_of(app)
        await assert_until(pilot, lambda: any(it.plain.startswith("up to step 1.") for it in app.services.messages))
        await see(pilot, "Open beside it", "A", "b")
        await see(pilot, "first difference", "enter")


async def test_only_what_failed_was_decided_by_a_step(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, "live_simple_0-0-0") as (app, pilot, _):
        await see(pilot, lambda: any("only a failure" in it.plain for it in app.services.messages), "A", "d")
        await see(pilot, "no branch yet", "A", "b")


@pytest.mark.parametrize("size", first_size([(80, 24), (160, 45)]))
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
        await see(pilot, "+ user: In Kelvin, please.")
        shown = text_of(app)
        assert "A failed, B passed" in shown
        assert shown.index("the prompt differs") < shown.index("EXPECTED")
        for word in ("95%", "gained", "p = ", "B ✓"):
            assert word not in shown, word
        await see(pilot, "Numbers", "i")
        assert "significance" not in text_of(app)


@pytest.mark.parametrize(("script", "why"), [("true", "Nothing was edited"), ('echo "── x ──" > "$1"', "no section")])
async def test_a_reply_left_as_it_was_or_that_cannot_be_read_is_refused(
    opened: Any, workspace: Any, planned: list[Plan], talk: RunFolder, monkeypatch: pytest.MonkeyPatch, script: str,
    why: str,
) -> None:  # fmt: skip
    editor(workspace, monkeypatch, script)
    async with opened() as (app, pilot):
        await read_talk(app, pilot, talk)
        await see(pilot, "Go on from 1.1", "A", "h")
        await see(pilot, "as it was", "e")
        await see(pilot, lambda: any(why in it.plain for it in app.services.messages), *"reply", "enter")
        assert not planned


async def test_another_model_is_chosen_from_those_that_are_ready(
    opened: Any, workspace: Any, planned: list[Plan], talk: RunFolder
) -> None:
    async with opened() as (app, pilot):
        await read_talk(app, pilot, talk)
        await see(pilot, "Go on from 1.1", "A", "h")
        await see(pilot, "sim/hasty", "m")
        assert "claude-y" not in text_of(app)
        await see(pilot, "model    sim/hasty", *"hasty", "enter")
        await see(pilot, lambda: bool(planned), "y")
        assert planned[0].model == "sim/hasty"
        assert planned[0].experiment is not None
        assert planned[0].experiment.arms == ((),)


async def test_two_marks_open_compare(opened: Any, workspace: Any, planned: list[Plan]) -> None:
    first = plain_run(workspace.root / "runs").folder
    second = plain_run(workspace.root / "runs", name="0119-other").folder
    async with reviewing(opened, first) as (app, pilot, _):
        await pilot.press("m")
        assert "Marked as A" in app.services.messages[-1].plain
        await review(app, pilot, second)
        await see(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.controller.pair is not None, "m")
        assert [it.path for it in app.screen.controller.folders] == [first.path, second.path]
