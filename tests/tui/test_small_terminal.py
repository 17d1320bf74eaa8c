"""Little room and poor terminals: one pane at a time from 40×10 up, one sentence below, and ASCII alone if asked."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.recorded_runs import WeatherSuite, plain_run
from support.run_suites import compare_by
from support.screen_text import see, text_of, wait_until_unchanged
from support.screen_tour import tour_screens

from console.core.ascii_text import to_ascii
from console.tui.symbols import SYMBOLS, Symbols

Frame = Callable[..., str]


@pytest.fixture(autouse=True)
def weather(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open the weather suite for every run."""
    compare_by(monkeypatch, WeatherSuite())


@pytest.mark.parametrize("size", [(39, 24), (80, 9), (20, 5)])
async def test_below_the_least_size_there_is_one_sentence_and_it_comes_back(
    size: tuple[int, int], opened: Any, frame: Frame
) -> None:
    async with opened() as (app, pilot):
        before = frame(app)
        await pilot.resize_terminal(*size)
        await pilot.pause()
        words = " ".join(frame(app).split())
        assert words == f"This terminal is {size[0]}×{size[1]}. The console needs 40×10; 80×24 or more is recommended."
        await pilot.resize_terminal(80, 24)
        await wait_until_unchanged(app, pilot)
        assert frame(app) == before


async def test_little_room_shows_one_pane_of_home_at_a_time(opened: Any, workspace: Any, assert_frame: Any) -> None:
    workspace.usual_runs()
    async with opened((40, 10)) as (app, pilot):
        assert_frame(app, "home-small-40x10", whole=True)
        heads = []
        for _ in range(3):
            await pilot.press("tab")
            await wait_until_unchanged(app, pilot)
            heads.append(text_of(app).splitlines()[1].split()[0])
        assert sorted(heads) == ["MODELS", "RUNS", "START"]
        await pilot.resize_terminal(80, 24)
        await wait_until_unchanged(app, pilot)
        assert all(head in text_of(app) for head in ("Try the demo", "RUNS", "MODELS", "SUITES"))


async def test_little_room_is_enough_to_watch_a_run(opened: Any, workspace: Any, assert_frame: Any) -> None:
    run = plain_run(workspace.root / "runs").folder
    async with opened((40, 10)) as (app, pilot):
        app.navigator.open_live(run)
        await see(pilot, "failed")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, "live-small-40x10", whole=True)
        await see(pilot, "verdict", "enter")
        assert "live_simple_1-0-0" not in text_of(app)


async def test_little_room_is_enough_to_review_a_run(opened: Any, workspace: Any, assert_frame: Any) -> None:
    run = plain_run(workspace.root / "runs").folder
    async with opened((40, 10)) as (app, pilot):
        app.navigator.open_review(run)
        await see(pilot, "1 of 7")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, "review-small-40x10", whole=True)
        await see(pilot, "expected", "enter")
        await see(pilot, "2 of 7", "n")
        assert_frame(app, "review-small-case-40x10")
        await see(pilot, "live_multiple", "escape")
        assert app.screen.focused.id == "list"


async def test_zoom_goes_with_tab(opened: Any, workspace: Any, frame: Frame) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        before = frame(app)
        await pilot.press("z")
        await wait_until_unchanged(app, pilot)
        assert "SUITES" not in frame(app)
        await pilot.press("tab")
        await wait_until_unchanged(app, pilot)
        assert "SUITES" not in frame(app)
        assert "newest first" in frame(app)
        await pilot.press("escape", "shift+tab")
        await wait_until_unchanged(app, pilot)
        assert frame(app) == before


# ASCII ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def ascii_marks() -> Iterator[None]:
    """Use ASCII marks for one test."""
    SYMBOLS.use_ascii()
    yield
    for name in Symbols.__struct_fields__:
        setattr(SYMBOLS, name, getattr(Symbols(), name))


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_asked_for_ascii_every_screen_is_ascii(ascii_marks: None, opened: Any, workspace: Any) -> None:
    run = plain_run(workspace.root / "runs").folder
    others = [plain_run(workspace.root / "runs", name=f"011{day}-1420-other").folder for day in (6, 5)]
    async with opened((80, 24)) as (app, pilot):
        seen = []
        async for name in tour_screens(app, pilot, run, *others):
            text = text_of(app)
            assert text.isascii(), f"{name}: {sorted(set(text) - set(map(chr, range(128))))}\n{text}"
            seen.append(name)
        assert len(seen) > 40


def test_signs_keep_the_width_of_a_line() -> None:
    line = "  .821 ±.069   ≥$0.23   ≈ 3 s …  ╭─ a │ b ─╮ ✗ ✓ 漢"
    assert to_ascii(line) == "  .821+-.069  >=$0.23   ~ 3 s..  +- a | b -+ F P 漢"
    assert len(to_ascii(line)) == len(line)
