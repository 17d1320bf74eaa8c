"""Sub-agents on the screens: the main conversation, and a line for each other one that `enter` opens."""

from typing import Any

import pytest
from support.fake_engine import FakeEngine
from support.screen_text import assert_until, see, text_of, wait_until_unchanged

from console.core.case import Case, Key
from console.core.chat import Reply, Usage
from console.core.live import Activity, Status
from console.core.outcome import Outcome
from console.core.record import Started
from console.insight.pace import Pace
from console.tui.data.run_feed import RunFeed
from console.tui.screens.live.screen import LiveScreen
from console.tui.widgets.transcript import Transcript

SIZES = [(80, 24), (130, 36), (160, 45)]
KEY = Key("report")
START = [{"role": "system", "content": "You lead a team."}, {"role": "user", "content": "Write a report on bees."}]


@pytest.fixture
def playing(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine with one agent whose two sub-agents have asked, at a moment that never passes."""
    engine = FakeEngine(workspace.root / "runs", cases=1, suite="agents", name="0117-1551-agents-gpt-x")
    monkeypatch.setattr(RunFeed, "now", lambda _: engine.recorder.at)
    monkeypatch.setattr(Pace, "tokens_per_s", lambda *_: 812.0)
    recorder = engine.recorder
    case = Case("report", "agents", {"input": "Write a report on bees."}, "Write a report on bees.")
    recorder.write(Started(recorder.tick(0.1), KEY, case, forks=True))
    title = [{"role": "user", "content": "Name this: Write a report on bees."}]
    recorder.ask(KEY, "", reply("Bees, a report"), n=1, messages=title)
    recorder.ask(KEY, "", reply("I will ask two researchers."), n=2, messages=START)
    for n, topic in ((3, "honey"), (4, "wasps, which are not bees")):
        asked = [{"role": "user", "content": f"Find facts about {topic}."}]
        recorder.ask(KEY, "", reply(f"One fact about {topic}."), n=n, messages=asked)
    more = [
        {"role": "user", "content": "Find facts about honey."},
        {"role": "assistant", "content": "One fact about honey."},
        {"role": "user", "content": "Another one."},
    ]
    recorder.ask(KEY, "", reply("It keeps for years."), n=5, messages=more)
    engine.status = Status("running", 1, [Activity(KEY, "streaming", since=recorder.at - 2.0)])
    return engine


def reply(text: str) -> Reply:
    return Reply(text, usage=Usage(120, 30), latency_s=1.5)


def go_on(engine: FakeEngine) -> None:
    """Have the main conversation and a new sub-agent write at the same time."""
    main = [*START, {"role": "assistant", "content": "I will ask two researchers."}]
    results = {"role": "user", "content": "Both have answered. Write it now."}
    engine.begin(KEY, 6, messages=[*main, results])
    engine.begin(KEY, 7, messages=[{"role": "user", "content": "Check the spelling of bees."}])
    engine.publisher.text(KEY, 6, "text", "Bees are insects that")
    engine.publisher.text(KEY, 7, "text", "It is spelled as it sounds")


@pytest.mark.parametrize("size", SIZES)
async def test_live_shows_the_main_conversation_as_it_is_written_and_a_line_for_each_other(
    size: tuple[int, int], playing: FakeEngine, opened: Any, assert_frame: Any
) -> None:
    async with playing, opened(size) as (app, pilot):
        app.navigator.open_live(playing.recorder.folder)
        await assert_until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen.feed is not None)
        await assert_until(pilot, lambda: app.screen.feed.is_read and app.screen.feed.overview.status is not None)
        await see(pilot, "I will ask two researchers.")
        await assert_until(pilot, lambda: "report  streaming" in text_of(app) and "1 at once" in text_of(app))
        go_on(playing)
        await see(pilot, "Bees are insects that")
        await see(pilot, "Check the spelling")
        await wait_until_unchanged(app, pilot)
        assert "It is spelled" not in text_of(app)
        assert_frame(app, f"live-forest-{size[0]}x{size[1]}")


@pytest.mark.parametrize("size", SIZES)
async def test_enter_opens_a_thread_and_closes_it_again(
    size: tuple[int, int], playing: FakeEngine, opened: Any, assert_frame: Any
) -> None:
    recorder = playing.recorder
    main = [*START, {"role": "assistant", "content": "I will ask two researchers."}]
    recorder.ask(KEY, "", reply("Bees."), n=6, messages=[*main, {"role": "user", "content": "Write it now."}])
    recorder.finish(KEY, Outcome.FAILED, "scored_low")
    recorder.close()
    async with opened(size) as (app, pilot):
        app.navigator.open_review(recorder.folder)
        await see(pilot, "scored")
        await see(pilot, "Find facts about honey", "i")
        await see(pilot, lambda: isinstance(app.focused, Transcript), "tab")
        text = app.focused
        assert [block.folded for block in text.blocks if block.opened_by == "enter"] == [True] * 3
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"review-forest-{size[0]}x{size[1]}")
        await see(pilot, "Bees, a report", "enter")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"review-forest-open-{size[0]}x{size[1]}")
        for _ in range(4):
            await pilot.press("enter")
            if all(block.folded for block in text.blocks if block.opened_by == "enter"):
                break
        else:
            pytest.fail("the threads never close again")
