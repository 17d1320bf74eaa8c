"""Review says what a verdict does not: an answer cut off, another model's answer, a suite that cannot be opened."""

from pathlib import Path
from typing import Any

import pytest
from support.recorded_runs import QUESTION, Recorder, call_reply
from support.screen_text import assert_until, see, text_of, wait_until_unchanged

from console.core.chat import Reply
from console.core.outcome import Outcome
from console.core.run import Manifest, ModelFacts
from console.suites import run_suite
from console.suites.suite import Suite
from console.tui.screens.review.screen import ReviewScreen


async def test_a_cut_answer_and_another_model_stand_above_the_case(opened: Any, workspace: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=2, model=ModelFacts("gpt-x", model_id="gpt-x"))
    key = recorder.start("simple_0")
    recorder.ask(key, QUESTION, Reply("let me think", finish="length", model="cheaper-x"))
    recorder.finish(key, Outcome.FAILED, "ast_decoder:decoder_failed", cut="length", model="cheaper-x")
    key = recorder.start("simple_1")
    recorder.ask(key, QUESTION, call_reply("f", "{}", model="gpt-x-2026-01-02"))
    recorder.finish(key, Outcome.FAILED, "ast_decoder:decoder_failed", model="gpt-x-2026-01-02")
    folder = recorder.close()
    for size in ((80, 24), (160, 45)):
        async with opened(size) as (app, pilot):
            app.navigator.open_review(folder, ("simple_0", 0))
            await see(pilot, "cut off")
            await wait_until_unchanged(app, pilot)
            assert isinstance(app.screen, ReviewScreen)
            shown = text_of(app)
            assert "answer cut at the token limit" in shown, "a group of its own"
            assert "cheaper-x instead of gpt-x" in shown
            app.navigator.open_review(folder, ("simple_1", 0))
            await assert_until(pilot, lambda: "simple_1" in text_of(app) and "cut off" not in text_of(app))
            assert "instead of gpt-x" not in text_of(app)


async def test_an_unexpected_error_of_the_suite_is_said_and_the_case_shown(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(manifest: Manifest, data: Path | None) -> Suite:
        raise ZeroDivisionError("no [bold]suite")

    monkeypatch.setattr(run_suite, "find_suite", fail)
    folder = workspace.run("2025-01-17T1320-a", failed=1)
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_review(folder)
        said = "the suite of this run cannot be opened: ZeroDivisionError: no [bold]suite"
        await assert_until(pilot, lambda: [message.plain for message in app.services.messages] == [said])
        await see(pilot, "what-0")
        assert isinstance(app.screen, ReviewScreen)
