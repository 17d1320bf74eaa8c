"""Live with loops that are being played: sixty-four at once, one stopped, the run paused, a provider that limits."""

from typing import Any

import pytest
from support.fake_engine import FakeEngine
from support.screen_text import assert_until, see, text_of, wait_until_unchanged
from support.suite_runs import take_round

from console.core.case import Key
from console.core.live import Activity, EndpointState, Status
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.insight.pace import Pace
from console.tui.data.run_feed import RunFeed
from console.tui.screens.live.screen import LiveScreen

SIZES = [(80, 24), (160, 45)]
WORDS = ("lead", "taxes", "plague", "armies", "grain", "borders", "coins", "roads")
STATES = ("streaming", "judging", "embedding", "asking")


@pytest.fixture
def playing(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """An engine with loops of different lengths, at a moment that never passes."""
    roles = {
        "judge": ModelFacts("judge-x", price_in=1.0, price_out=4.0),
        "embedding": ModelFacts("e", provider="local"),
    }
    engine = FakeEngine(workspace.root / "runs", cases=64, suite="aidan", name="0117-1551-aidan-gpt-x", roles=roles)
    monkeypatch.setattr(RunFeed, "now", lambda _: engine.recorder.at)
    monkeypatch.setattr(Pace, "tokens_per_s", lambda *_: 812.0)
    return engine


def begin(engine: FakeEngine, count: int) -> list[Key]:
    """Start loops and give each up to seven rounds; novelty falls at different paces."""
    keys = [engine.recorder.start(f"q{n}", "causes", f"Why did empire {n} fall?") for n in range(count)]
    for place, key in enumerate(keys):
        for turn in range(1 + place % 7):
            novelty = max(0.9 - turn * (0.05 + place % 5 / 40), 0.17) if turn else 1.0
            take_round(engine.recorder, key, turn, f"The {WORDS[place % 8]}, and then the {WORDS[turn]}.", novelty)
    return keys


def busy(engine: FakeEngine, keys: list[Key], why: dict[int, str] | None = None) -> list[Activity]:
    """What each loop is doing; those with a reason wait."""
    waits, at = why or {}, engine.recorder.at
    return [
        Activity(key, "waiting" if n in waits else STATES[n % 4], since=at - 2.0, why=waits.get(n, ""))
        for n, key in enumerate(keys)
    ]


async def shown(app: Any, pilot: Any, engine: FakeEngine, words: str) -> None:
    app.navigator.open_live(engine.recorder.folder)
    await assert_until(pilot, lambda: isinstance(app.screen, LiveScreen) and app.screen.feed is not None)
    await assert_until(pilot, lambda: app.screen.feed.is_read and app.screen.feed.overview.status is not None)
    await see(pilot, words)
    if app.size.width > 100:
        await see(pilot, "ETA     ")
    await wait_until_unchanged(app, pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_sixty_four_loops(size: tuple[int, int], playing: FakeEngine, opened: Any, assert_frame: Any) -> None:
    keys = begin(playing, 64)
    playing.status = Status("running", 64, busy(playing, keys))
    async with playing, opened(size) as (app, pilot):
        await shown(app, pilot, playing, "64 running")
        await pilot.press("g", "G")  # whichever is followed, the reader moves away from it
        await see(pilot, "empire 63")
        await see(pilot, "closest to stopping", "o")
        await wait_until_unchanged(app, pilot)
        assert app.screen.conversations.cursor == app.screen.conversations.keys[0]
        await see(pilot, "borders, and then the coins")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"live-loops-64-{size[0]}x{size[1]}")


@pytest.mark.parametrize("size", SIZES)
async def test_a_paused_run_with_a_stopped_loop(
    size: tuple[int, int], playing: FakeEngine, opened: Any, assert_frame: Any
) -> None:
    keys = begin(playing, 6)
    playing.recorder.finish(keys[2], Outcome.NOT_RUN, "cancelled", cost_usd=0.002)
    waits = dict.fromkeys(range(6), "paused")
    playing.status = Status("paused", 6, [it for it in busy(playing, keys, waits) if it.key != keys[2]])
    async with playing, opened(size) as (app, pilot):
        await shown(app, pilot, playing, "stopped by")
        await assert_until(pilot, lambda: "‖ paused" in text_of(app).split("\n")[0])
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"live-loops-paused-{size[0]}x{size[1]}")


@pytest.mark.parametrize("size", SIZES)
async def test_a_provider_that_limits(
    size: tuple[int, int], playing: FakeEngine, opened: Any, assert_frame: Any
) -> None:
    keys = begin(playing, 6)
    why = "rate limit, again in 12 s"
    endpoint = EndpointState("gpt-x", in_flight=2, limit=4, waiting=3, why="rate limit", throttled=5)
    playing.status = Status("running", 6, busy(playing, keys, {1: why, 3: why, 4: why}), [endpoint, endpoint])
    async with playing, opened(size) as (app, pilot):
        await shown(app, pilot, playing, "3 wait: rate limit")
        assert_frame(app, f"live-loops-limited-{size[0]}x{size[1]}")
