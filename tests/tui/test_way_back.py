"""Escape leads to where the reader came from, cursor and all; Home is only at the bottom."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.compared_runs import call_run
from support.fake_engine import FakeEngine
from support.screen_text import assert_until, settle
from textual.pilot import Pilot

from console.core.outcome import Outcome
from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.data.runs import RunLine
from console.tui.navigation import LONGEST_WAY_BACK
from console.tui.widgets.row_list import RowList


class Reader:
    """Somebody at the keys."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[int]) -> None:
        self.app = app
        self._pilot = pilot

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)
        await settle(self.app, self._pilot)

    async def see(self, where: str) -> None:
        await assert_until(self._pilot, lambda: getattr(self.app.screen, "where", "") == where)
        await settle(self.app, self._pilot)

    async def see_runs(self, shows: Callable[[RunLine], bool]) -> None:
        """Wait until a run of the list is as it should be."""
        await assert_until(self._pilot, lambda: any(map(shows, self.app.services.workspace.runs or ())))
        await settle(self.app, self._pilot)

    @property
    def place(self) -> tuple[str, str, str | None]:
        """Screen, run and row under the cursor."""
        screen: Any = self.app.screen
        lists = [rows for rows in screen.query(RowList) if rows.id in ("list", "changes", "grid", "runs", "running")]
        run = screen.shown_run
        return screen.where, run.name if run else "", lists[0].cursor if lists else None


@pytest.fixture
def three_runs(workspace: Any) -> list[RunFolder]:
    root = workspace.root / "runs"
    models = {"gpt-x": 0, "claude-y": 1, "qwen-z": 1}
    return [call_run(root, f"0117-142{n}-bfcl-{model}", model, side) for n, (model, side) in enumerate(models.items())]


@pytest.fixture
async def reader(opened: Any, three_runs: list[RunFolder]) -> AsyncIterator[Reader]:
    async with at_home(opened) as reader:
        yield reader


@asynccontextmanager
async def at_home(opened: Any) -> AsyncIterator[Reader]:
    async with opened((160, 45)) as (app, pilot):
        yield Reader(app, pilot)


async def test_from_the_grid_through_compare_to_review_and_back(reader: Reader, three_runs: list[RunFolder]) -> None:
    reader.app.navigator.open_grid(three_runs)
    await reader.see("grid")
    await reader.press("enter", "j", "j")
    grid = reader.place
    await reader.press("enter")
    await reader.see("compare")
    await reader.press("j")
    compare = reader.place
    await reader.press("a")
    await reader.see("review")
    for place in (compare, grid):
        await reader.press("escape")
        assert reader.place == place
    await reader.press("escape", "escape")  # from the cases to their cell, and home
    assert reader.place[0] == "home"
    assert reader.app.navigator.is_at_home


async def test_from_leaderboard_and_trends_into_a_run_and_back(reader: Reader) -> None:
    for key, where, into in (("B", "board", ("enter",)), ("H", "trends", ("tab", "enter"))):
        await reader.press(key)
        await reader.see(where)
        await reader.press(*into)
        await reader.see("review")
        await reader.press("escape")
        await reader.see(where)
    await reader.press("escape")
    assert reader.place[0] == "board"
    await reader.press("escape")
    assert reader.place[0] == "home"


async def test_from_review_to_another_run_and_back_to_the_same_case(
    reader: Reader, three_runs: list[RunFolder]
) -> None:
    navigator = reader.app.navigator
    navigator.open_review(three_runs[0])
    await reader.see("review")
    await reader.press("n")
    review = reader.place
    navigator.open_review(three_runs[1])  # as the finder does
    await reader.see("review")
    assert reader.place[1] == three_runs[1].name
    await reader.press("escape")
    assert reader.place == review
    navigator.open_compare(three_runs[0], three_runs[2])  # as a branch does when it has been asked
    await reader.see("compare")
    await reader.press("escape")
    assert reader.place == review


@pytest.mark.slow
async def test_a_screen_is_on_the_way_back_once_and_it_does_not_grow_without_end(
    reader: Reader, three_runs: list[RunFolder]
) -> None:
    navigator = reader.app.navigator
    navigator.open_live(three_runs[0])
    for _ in range(3):
        await reader.press("3")
        await reader.press("2")
    assert reader.place[0] == "live"
    await reader.press("escape")
    assert reader.place[0] == "review"
    await reader.press("escape")
    assert reader.place[0] == "home"
    for number in range(2 * LONGEST_WAY_BACK):
        navigator.open_review(three_runs[number % 3], (f"live_simple_9{number % 3}", 0))
        await reader.see("review")
    steps = 0
    while reader.place[0] != "home":
        await reader.press("escape")
        steps += 1
    assert steps == LONGEST_WAY_BACK + 1
    await reader.press("1", "escape")
    assert navigator.is_at_home


async def test_home_forgets_the_way_there(reader: Reader) -> None:
    await reader.press("B", "1")
    assert reader.place[0] == "home"
    await reader.press("escape")
    assert reader.place[0] == "home"


async def test_the_key_of_review_opens_the_failures_of_a_run_that_has_ended(
    opened: Any, workspace: Any, three_runs: list[RunFolder]
) -> None:
    async with at_home(opened) as reader:
        await reader.press("3")
        before = reader.place
        await reader.press("B", "3")
        assert reader.place == before  # the run reviewed last, as nothing has ended
        await reader.press("B")
        async with FakeEngine(workspace.root / "runs", name="2027-01-01T0000-a") as engine:
            await reader.see_runs(lambda line: line.is_live)
            engine.recorder.finish(engine.recorder.start("x"), Outcome.FAILED)
            await engine.end()
            await reader.see_runs(lambda line: line.name == "2027-01-01T0000-a" and line.state == "completed")
        await reader.press("3")
        assert reader.place[:2] == ("review", "2027-01-01T0000-a")
        assert before[1] in [run.name for run in three_runs]


async def test_another_live_run_takes_the_place_of_the_one_that_is_watched(opened: Any, workspace: Any) -> None:
    async with (
        FakeEngine(workspace.root / "runs", name="2026-01-01T0000-a") as first,
        FakeEngine(workspace.root / "runs", name="2026-01-01T0000-b"),
        at_home(opened) as reader,
    ):
        first.recorder.finish(first.recorder.start("x"), Outcome.FAILED)
        await reader.press("B")
        reader.app.navigator.open_live(first.recorder.folder)
        await reader.see("live")
        await reader.press("right_square_bracket")
        assert reader.place[:2] == ("live", "2026-01-01T0000-b")
        await reader.press("v")
        await reader.see("review")
        await reader.press("escape")
        assert reader.place[:2] == ("live", "2026-01-01T0000-b")
        await reader.press("escape")
        assert reader.place[0] == "board"
