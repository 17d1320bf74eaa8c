"""Labels in Review: a model is asked after a question, in a process of its own; its labels group, filter and go."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.graded_runs import graded_run
from support.recorded_runs import WeatherSuite
from support.run_suites import compare_by
from support.screen_text import assert_until, see, text_of
from textual.pilot import Pilot

from console.core.annotation import Label
from console.core.case import Key
from console.insight.failures import GroupBy
from console.store.lock import RunLock
from console.store.notes import LABEL, Note, Notes, reader_labels
from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.data.label_session import LabelSession
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.palette import Palette
from console.tui.dialogs.small_dialogs import Question
from console.tui.screens.review.label_screen import LabelScreen
from console.tui.screens.review.screen import ReviewScreen


@pytest.fixture
def run(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run with three failures; the simulated models answer at once, and the process finds this checkout."""
    compare_by(monkeypatch, WeatherSuite())
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    graded = graded_run(workspace.root / "runs", "0101-0000-run", {"a": "f", "b": "p", "c": "f", "d": "b"})
    return RunFolder(graded.path)


async def review(app: ConsoleApp, pilot: Pilot[int], run: RunFolder) -> ReviewScreen:
    app.navigator.open_review(run)
    await assert_until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.is_mounted)
    screen = app.screen
    assert isinstance(screen, ReviewScreen)
    await assert_until(pilot, lambda: screen.feed is not None and screen.feed.is_read)
    await assert_until(pilot, lambda: len(screen.controller.triage.order) == 3)
    return screen


async def ask(app: ConsoleApp, pilot: Pilot[int]) -> str:
    """Go through the dialogs up to the question, and return what it says."""
    await see(pilot, lambda: isinstance(app.screen, Chooser), "X", "a")
    await pilot.press(*"sim/care", "enter")  # what is typed narrows the list; enter takes its first row
    await assert_until(pilot, lambda: isinstance(app.screen, Question))
    return text_of(app)


def labels(run: RunFolder) -> list[str]:
    annotations = Notes(run.path).annotations()
    return [annotation.label.model for annotation in annotations.values() if annotation.label is not None]


async def test_a_model_labels_what_is_listed_after_a_question(opened: Any, run: RunFolder) -> None:
    async with opened() as (app, pilot):
        screen = await review(app, pilot, run)
        question = await ask(app, pilot)
        assert "Show 3 failures to sim/careful" in question
        assert "simulated, free" in question
        assert labels(run) == []
        await see(pilot, lambda: len(labels(run)) == 3, "y")
        await assert_until(pilot, lambda: "3 labeled by sim/" in app.services.messages[-1].plain)
        assert "simulated" in app.services.messages[-1].plain
        await pilot.press("o", "l")
        groups = [group.label for group in screen.controller.triage.groups]
        assert groups
        assert all(label.endswith("(simulated)") for label in groups)
        await pilot.press("f", "l")
        assert 'label:"' in screen.controller.triage.narrow.text
        await see(pilot, lambda: isinstance(app.screen, Question), "F", "X", "u")
        assert "Remove 3 labels" in text_of(app)
        await see(pilot, lambda: labels(run) == [], "y")
        await assert_until(pilot, lambda: screen.controller.triage.by is GroupBy.REASON)


async def test_nobody_is_asked_without_a_yes(opened: Any, run: RunFolder) -> None:
    async with opened() as (app, pilot):
        await review(app, pilot, run)
        await ask(app, pilot)
        await see(pilot, lambda: isinstance(app.screen, ReviewScreen), "escape")
        assert not run.labels_log_path.exists()
        assert labels(run) == []


async def test_labelling_that_goes_on_elsewhere_is_seen_and_not_doubled(opened: Any, run: RunFolder) -> None:
    async with opened() as (app, pilot):
        with RunLock(run.labels_lock_path):
            await review(app, pilot, run)
            await see(pilot, "labeling 0")
            for key in ("a", "u"):
                await see(pilot, lambda: "are being labeled" in app.services.messages[-1].plain, "X", key)
                assert isinstance(app.screen, ReviewScreen)
        await assert_until(pilot, lambda: "labeling 0" not in text_of(app))


async def test_labeling_elsewhere_is_counted_from_its_start_and_of_its_total(opened: Any, run: RunFolder) -> None:
    def add_label(case: str) -> None:
        Notes(run.path).add(Note(Key(case), LABEL, "other", label=Label("other", prompt="p", cost_usd=0.015)))

    add_label("d")  # by an earlier labeling
    async with opened() as (app, pilot):
        with RunLock(run.labels_lock_path) as lock:
            lock.announce(100)
            add_label("a")  # before Review is opened
            await review(app, pilot, run)
            await see(pilot, "labeling 1/100  $0.015")
            add_label("c")
            await see(pilot, "labeling 2/100  $0.030")


async def test_why_a_model_cannot_be_asked_is_said(
    opened: Any, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    command_of: Callable[..., list[str]] = LabelSession._command
    monkeypatch.setattr(LabelSession, "_command", lambda *words: [*command_of(*words)[:-1], "no-such-run"])
    async with opened() as (app, pilot):
        await review(app, pilot, run)
        await see(pilot, lambda: isinstance(app.screen, Chooser), "X", "a")
        await see(pilot, lambda: "no-such-run" in app.services.messages[-1].plain, "enter")


async def test_without_labels_there_is_nothing_to_take_back_or_stop(opened: Any, run: RunFolder) -> None:
    async with opened() as (app, pilot):
        await review(app, pilot, run)
        await see(pilot, lambda: "no labels to remove" in app.services.messages[-1].plain, "X", "u")
        await see(pilot, lambda: "No labeling is running" in app.services.messages[-1].plain, "X", "s")


async def test_who_has_one_run_and_no_judge_meets_no_blind_labels(opened: Any, run: RunFolder, workspace: Any) -> None:
    async with opened((100, 30)) as (app, pilot):
        await assert_until(pilot, lambda: len(app.services.workspace.runs or ()) == 1)
        await pilot.press("A")
        assert app.screen.where == "home"
        assert not [action.id for action in app.screen.actions_here() if action.of_graders]
        await pilot.press("colon", *"grade the run")
        await assert_until(pilot, lambda: isinstance(app.screen, Palette) and "Nothing matches" in text_of(app))
        await pilot.press("escape")
        await review(app, pilot, run)
        await see(pilot, "ask a model", "X")
        assert "yourself" not in text_of(app)
        await see(pilot, "try a change", "escape", "A")
        assert "grade the run again" not in text_of(app)
        await pilot.press("escape")
        workspace.run("2025-01-17T1320-second", passed=3, failed=1)
        app.services.workspace.read_all()
        await assert_until(pilot, lambda: len(app.services.workspace.runs or ()) > 1)
        await see(pilot, "yourself", "X")
        await see(pilot, "grade the run again", "escape", "1", "A")


async def test_a_reader_labels_answers_with_their_verdicts_hidden(opened: Any, run: RunFolder, workspace: Any) -> None:
    workspace.run("2025-01-17T1320-second", passed=3, failed=1)
    async with opened((100, 30)) as (app, pilot):
        screen = await review(app, pilot, run)
        await see(pilot, lambda: isinstance(app.screen, LabelScreen) and "judge alone" not in text_of(app), "X", "l")
        await see(pilot, "judge hidden   0 of 3")
        await see(pilot, "2 of 3", "p", "backspace", "2", "u")
        shown = text_of(app)
        assert "✓" not in shown
        assert "✗" not in shown
        assert "wrong sum" not in shown
        await see(pilot, lambda: app.screen is screen, "escape")
    given = [label for of_slot in reader_labels(Notes(run.path).all()).values() for label in of_slot]
    assert sorted(label.value for label in given) == ["failed", "unclear"]
    assert [label.reader.grades for label in given if label.reader is not None and label.reader.grades] == [{"": 2}]
    assert all(label.reader is not None and label.reader.blind for label in given)
