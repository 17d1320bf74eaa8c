"""Loops and run code in Live and Review: frames at two sizes, text as it is written, what is folded."""

import re
from typing import Any

import pytest
from support.fake_engine import FakeEngine
from support.quick_rows import first_size
from support.review_opening import review, reviewing
from support.run_suites import compare_by
from support.screen_text import assert_no_control_byte, assert_until, see, text_of, wait_until_unchanged
from support.suite_runs import ANSWERS, CodeSuite, LoopSuite, brick_run, code_run, take_round
from tui.test_live_screen import watch

from console.core.case import Key
from console.core.live import Activity, Status
from console.core.outcome import Outcome
from console.tui.render.block import Block
from console.tui.screens.review.screen import ReviewScreen
from console.tui.widgets.transcript import Transcript

SIZES = [(80, 24), (160, 45)]


def block_of(screen: ReviewScreen, key: str) -> Block:
    """Return a block of the view in sight."""
    return next(block for block in screen.case_pane.text.blocks if block.key == key)


@pytest.fixture
def loop_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_by(monkeypatch, LoopSuite())


@pytest.fixture
def code_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    compare_by(monkeypatch, CodeSuite())


# Frames --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("loop_suite")
@pytest.mark.parametrize("size", first_size(SIZES))
async def test_the_sums_of_a_loop_in_review(
    size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any
) -> None:
    async with reviewing(opened, brick_run(workspace.root / "runs").folder, size=size) as (app, pilot, _):
        await pilot.press("V")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"review-run-{size[0]}x{size[1]}")


# Loops in Live -------------------------------------------------------------------------------------------------------


async def test_an_answer_streams_and_gives_way_to_its_verdict(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs", format="aidanbench") as engine, opened((120, 40)) as (app, pilot):
        key = engine.recorder.start("q1", "uses", "A use for a brick?")
        take_round(engine.recorder, key, 0, ANSWERS[0], 1.0)
        screen = await watch(app, pilot, engine.recorder.folder)
        await see(pilot, "nov   1")
        engine.begin(key, n=4, turn=1, messages=[{"role": "user", "content": "Another.\nNot:\nthis\nor that"}])
        engine.status = Status("running", 4, [Activity(key, "streaming")])
        engine.publisher.text(key, 4, "text", "<answer>A plant pot</ans")
        await assert_until(pilot, lambda: "A plant pot" in text_of(app) and "writing" in text_of(app))
        assert "<answer>" not in text_of(app)
        assert "</ans" not in text_of(app)
        engine.publisher.text(key, 4, "text", "wer> done")
        engine.publisher.ended(key, 4)
        engine.status = Status("running", 4, [Activity(key, "judging")])
        take_round(engine.recorder, key, 1, ANSWERS[1], 0.62)
        await see(pilot, "nearest earlier answer: round 1, .38 alike")
        keys = [block.key for block in screen.query_one("#watched", Transcript).blocks]
        assert len(keys) == len(set(keys))
        assert [it for it in keys if it.endswith("answer")] == ["round 0 answer", "round 1 answer"]


async def test_what_a_judge_says_is_not_taken_for_the_loop(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs", format="aidanbench") as engine, opened((120, 40)) as (app, pilot):
        key = engine.recorder.start("q1", "uses", "A use for a brick?")
        take_round(engine.recorder, key, 0, ANSWERS[0], 1.0)
        screen = await watch(app, pilot, engine.recorder.folder)
        await assert_until(pilot, lambda: screen.feed is not None and screen.feed.is_attached)
        engine.publisher.began(_judge_call(key))
        engine.publisher.text(key, 9, "text", "<coherence_score>77")
        engine.publisher.text(key, 4, "text", "unknown call")
        await assert_until(pilot, lambda: screen.feed.overview._side_calls.get(key) == {9})
        await pilot.pause(0.05)
        rollout = screen.controller.rollout(("q1", 0))
        assert rollout is not None
        assert "coherence_score" not in rollout.recent_text


def _judge_call(key: Key) -> Any:
    from console.core.live import Began

    return Began(key=key, n=9, role="judge", turn=1)


async def test_prompts_and_the_judge_unfold_with_x(opened: Any, workspace: Any) -> None:
    folder = brick_run(workspace.root / "runs").folder
    async with opened((120, 40)) as (app, pilot):
        screen = await watch(app, pilot, folder)
        assert "asked again, with 3 earlier answers" in text_of(app)
        assert "<previous_answer" not in text_of(app)
        await pilot.press("x")
        await assert_until(pilot, lambda: any("<previous_answer" in block.text and not block.folded
                                       for block in screen.query_one("#watched", Transcript).blocks))  # fmt: skip
        await see(pilot, lambda: "<previous_answer" not in text_of(app), "x")


@pytest.mark.parametrize(
    ("size", "told"),
    [((160, 45), "at the threshold within a round"), ((80, 24), "novelty ≈1 round left")],
)
async def test_the_trend_is_told_before_the_end(size: tuple[int, int], told: str, opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs", format="aidanbench") as engine, opened(size) as (app, pilot):
        key = engine.recorder.start("q1", "uses", "A use for a brick?")
        for turn, novelty in enumerate((0.9, 0.75, 0.6, 0.45, 0.3)):
            take_round(engine.recorder, key, turn, f"answer {turn}", novelty)
        await watch(app, pilot, engine.recorder.folder)
        await see(pilot, told)
        assert "▾.30" in text_of(app)


# Loops in Review -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("loop_suite")
async def test_all_loops_are_listed_by_question_and_reason(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, brick_run(workspace.root / "runs").folder, size=(160, 45)) as (app, pilot, screen):
        assert [group.label for group in screen.controller.triage.groups] == [
            "repeated itself", "stopped by the limit of rounds", "judge gave no number, twice",
        ]  # fmt: skip
        assert re.search(r"A use for a brick\? +\d+ answers", text_of(app))
        await see(pilot, lambda: not screen.controller.triage.order, "f", "f")
        await see(pilot, lambda: len(screen.controller.triage.order) == 3, "F")


@pytest.mark.usefixtures("loop_suite")
async def test_words_that_differ_are_underlined(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, brick_run(workspace.root / "runs").folder, size=(120, 40)) as (_, _, screen):
        block = block_of(screen, "collision")
        assert "7 of 8 words the same" in block.title.plain
        marked = [
            line.plain[span.start : span.end]
            for line in block.body
            for span in line.spans
            if "underline" in str(span.style)
        ]
        assert marked == ["when", "whenever"]


# Code ----------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("code_suite")
async def test_good_turns_are_folded_and_open_when_stepped_to(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, code_run(workspace.root / "runs").folder, size=(120, 40)) as (app, pilot, screen):
        folded = {block.key: block.folded for block in screen.case_pane.text.blocks if block.key.startswith("turn ")}
        assert folded == {"turn 0": True, "turn 1": False, "turn 2": True}
        assert "calls ✗   reads ✓   writes ✗   validator ✗" in text_of(app)
        await see(pilot, lambda: not block_of(screen, "turn 1").folded, ">", ">")
        await see(pilot, lambda: not block_of(screen, "turn 0").folded, "<", "<")


async def test_a_weak_sandbox_is_named_and_effects_stay_backstage(opened: Any, workspace: Any) -> None:
    folder = code_run(workspace.root / "runs").folder
    async with opened((120, 40)) as (app, pilot):
        screen = await watch(app, pilot, folder)
        assert "sandbox open: network" in text_of(app)
        titles = [block.title.plain for block in screen.query_one("#watched", Transcript).blocks]
        assert "clock" not in titles
        assert titles.count("output sent to the model") == 3
        assert any("NameError" in title for title in titles)


# Hostile text --------------------------------------------------------------------------------------------------------


async def test_hostile_text_in_a_loop(hostile_some: str, opened: Any, workspace: Any, loop_suite: None) -> None:
    folder = brick_run(workspace.root / "runs", text=hostile_some).folder
    async with opened((120, 40)) as (app, pilot):
        await watch(app, pilot, folder)
        await pilot.press("x")
        await wait_until_unchanged(app, pilot)
        assert_no_control_byte(app)
        await review(app, pilot, folder)
        assert_no_control_byte(app)
        await pilot.press("V")
        await wait_until_unchanged(app, pilot)
        assert_no_control_byte(app)


async def test_hostile_text_in_code(hostile_some: str, opened: Any, workspace: Any, monkeypatch: Any) -> None:
    compare_by(monkeypatch, CodeSuite(hostile_some))
    folder = code_run(workspace.root / "runs", text=hostile_some).folder
    async with opened((120, 40)) as (app, pilot):
        await watch(app, pilot, folder)
        assert_no_control_byte(app)
        await review(app, pilot, folder)
        assert_no_control_byte(app)


# Following a run -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("code_suite")
async def test_review_of_a_run_without_results_fills_in_as_they_come(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        key = engine.recorder.start("a")
        screen = await review(app, pilot, engine.recorder.folder)
        await see(pilot, "Nothing has been graded yet")
        engine.recorder.finish(key, Outcome.FAILED, "value_error:string", "unit", messages=["wrong unit"])
        await assert_until(pilot, lambda: screen.controller.cursor.slot == ("a", 0) and "wrong value" in text_of(app))


async def test_a_run_just_launched_is_starting(opened: Any, workspace: Any) -> None:
    import time

    from console.core.case import Setting
    from console.core.run import Manifest, ModelFacts
    from console.store.runs import create_run

    made = Manifest("new", time.time(), "small-talk", ModelFacts("gpt-x"), Setting(), cases=3)
    folder = create_run(workspace.root / "runs", made)
    async with opened() as (app, pilot):
        await watch(app, pilot, folder)
        assert "starting" in text_of(app)
        assert "interrupted" not in text_of(app)
        assert "The engine is starting" in text_of(app)
