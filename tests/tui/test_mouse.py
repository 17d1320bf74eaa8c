"""Clicks, drags and turns of the wheel between any two updates, with keys between them, leave the app open."""

import asyncio
import os
import random
import sys
import time
from collections import deque
from typing import Any

import pytest
from support.recorded_runs import plain_run
from support.screen_text import PATIENCE_S, assert_until, text_of, wait_for_answers, wait_until_unchanged
from support.streaming_runs import StreamingRuns, streaming_runs
from support.suite_runs import brick_run, code_run
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.widgets import Input

from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.dialogs.palette import Palette
from console.tui.screens.review.screen import ReviewScreen
from console.tui.widgets.row_list import RowList
from console.tui.widgets.transcript import Transcript

SECONDS = float(os.environ.get("EVAL_CONSOLE_MOUSE_S", "20"))
"""How long the mouse is moved; `make soak-mouse` takes longer."""
SESSION_S = min(SECONDS / 4, 30)
"""How long one app is used before the next is opened, in a terminal of another size."""
SIZES = ((120, 40), (80, 24), (200, 60), (120, 40), (45, 12), (160, 45))
SCREENS = "122345BHSL+wwwvvxn?:"
"""Keys that open a screen, or show something else on it."""
KEYS = [*"BHSL:?/ytsfomnNdiapgceEARrz[]>< \t\r\x1b", "\x1b[A", "\x1b[B", "\x1b[F", "\x1b[H"]
"""Everything but what quits or starts another program in this terminal."""
RECENT = 80
"""How many of the last inputs a failure shows."""


class Hand:
    """Moves a mouse and types, as bytes that a terminal would send."""

    def __init__(self, app: ConsoleApp, rng: random.Random) -> None:
        self._app, self._rng = app, rng
        self._parser = XTermParser()
        self.sent: deque[str] = deque(maxlen=RECENT)

    def send(self, text: str) -> None:
        """Hand bytes to the app by the way on which those of a terminal come."""
        driver: Any = self._app._driver
        self.sent.append(text)
        for message in [*self._parser.feed(text), *(self._parser.tick() if text == "\x1b" else ())]:
            driver.process_message(message)

    def act(self) -> None:
        """Do one thing, most often with the mouse."""
        rng, x, y = self._rng, *self._place()
        chance = rng.random()
        if chance < 0.3:
            self._drag(x, y)
        elif chance < 0.45:
            self.send(_mouse(rng.choice((64, 65)), x, y) * rng.randint(1, 5))
        elif chance < 0.65:
            self.send((_mouse(0, x, y) + _mouse(0, x, y, up=True)) * rng.choice((1, 1, 2, 3)))
        elif chance < 0.75:
            self.send(_mouse(35, x, y))
        elif chance < 0.8:
            self.send(":" + "".join(rng.choice("abcdefghilmnoprstuw ") for _ in range(rng.randint(0, 4))))
            self.send((_mouse(0, x, y) + _mouse(0, x, y, up=True)) * 2)
        else:
            key = rng.choice(KEYS if rng.random() < 0.6 else SCREENS)
            self.send(key + (_mouse(0, x, y) + _mouse(0, x, y, up=True)) * rng.choice((0, 1, 2)))

    def _drag(self, x: int, y: int) -> None:
        rng = self._rng
        self.send(_mouse(0, x, y))
        for _ in range(rng.randint(0, 6)):
            self.send(_mouse(32, *self._place()) if rng.random() < 0.5 else _mouse(32, x + rng.randint(-9, 9), y))
        if rng.random() < 0.9:
            self.send(_mouse(0, *self._place(), up=True))

    def _place(self) -> tuple[int, int]:
        size = self._app.size
        return self._rng.randint(1, size.width), self._rng.randint(1, size.height)


def _mouse(button: int, x: int, y: int, *, up: bool = False) -> str:
    return f"\x1b[<{button};{max(x, 1)};{max(y, 1)}{'m' if up else 'M'}"


@pytest.fixture
def harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what would end the app do nothing, and every program that it would start fail at once."""
    monkeypatch.setattr(ConsoleApp, "exit", lambda *_, **__: None)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setattr("console.tui.desktop.open_outside", lambda *_: None)
    for name in ("EDITOR", "VISUAL", "PAGER"):
        monkeypatch.setenv(name, "true")


@pytest.mark.usefixtures("harmless")
@pytest.mark.timeout(0)
async def test_a_mouse_between_any_two_updates_leaves_the_app_open(opened: Any, workspace: Any) -> None:
    seed = os.environ.get("EVAL_CONSOLE_MOUSE_SEED") or "mouse"
    rng = random.Random(seed)
    ended = [make(workspace.root / "runs").folder for make in (plain_run, brick_run, code_run)]
    ends = time.monotonic() + SECONDS
    async with streaming_runs(workspace.root / "runs", rng) as runs:
        while time.monotonic() < ends:
            async with opened(rng.choice(SIZES)) as (app, _):
                await _play(app, runs, ended, rng, min(ends, time.monotonic() + SESSION_S))
                await _leave(app)


@pytest.mark.parametrize("pressed", ["before", "after"])
async def test_a_selection_neither_begins_nor_ends_at_a_text_that_is_removed(
    opened: Any, workspace: Any, pressed: str
) -> None:
    run = plain_run(workspace.root / "runs").folder
    async with opened((120, 40)) as (app, pilot):
        app.navigator.open_review(run)
        await assert_until(pilot, lambda: isinstance(app.screen, ReviewScreen) and "Chicago" in text_of(app))
        hand = Hand(app, random.Random(0))
        text = next(one for one in app.screen.query(Transcript) if one.region)
        x, y = text.region.x + 3, text.region.y + 2
        if pressed == "before":
            hand.send(_mouse(0, x, y) + _mouse(32, x + 5, y))
            await pilot.pause()
        app.delay_update(0.1)  # as when screens change: until then the text is found where it was
        await text.remove()
        hand.send(_mouse(0, x, y) * (pressed == "after") + _mouse(32, x + 5, y) + _mouse(32, x + 9, y + 1))
        hand.send(_mouse(0, x, y, up=True) + _mouse(0, x, y) + _mouse(0, x, y, up=True))
        await wait_until_unchanged(app, pilot)
        assert app.crash is None


async def test_a_click_on_a_row_that_typing_has_taken_away_chooses_nothing(opened: Any) -> None:
    async with opened((120, 40)) as (app, pilot):
        await pilot.press("colon")
        await assert_until(pilot, lambda: isinstance(app.screen, Palette) and bool(app.screen.query_one(RowList).keys))
        palette, rows = app.screen, app.screen.query_one(RowList)
        rows.post_message(RowList.RowChosen(rows, rows.keys[0]))  # on its way while the text changes
        palette.query_one(Input).value = "nothing is called so"
        palette.narrow()
        await wait_until_unchanged(app, pilot)
        assert app.crash is None
        assert app.screen is palette


@pytest.mark.parametrize("key", ["y", ":", "L", "B"])
async def test_an_app_that_ends_while_something_opens_ends_without_an_error(
    opened: Any, workspace: Any, key: str
) -> None:
    workspace.usual_runs()
    for turns in range(7, 13):
        async with opened((120, 40)) as (app, _):
            Hand(app, random.Random(0)).send(key)
            for _ in range(turns):
                await asyncio.sleep(0)
            await _leave(app)
        assert app.crash is None, turns


async def test_the_wait_names_a_widget_that_stands_still_and_passes_over_one_that_leaves(opened: Any) -> None:
    goes_on = asyncio.Event()
    async with opened((120, 40)) as (app, _):
        try:
            app.screen.query(RowList).first().call_later(goes_on.wait)
            with pytest.raises(AssertionError, match=r"^StartList.*locks\.py"):
                await wait_for_answers(app, 0.5)
        finally:
            goes_on.set()
        leaving = app.screen.query(RowList).last()
        leaving.call_later(leaving.remove)
        await wait_for_answers(app)


async def _leave(app: ConsoleApp) -> None:
    """Quit as people do, with input on its way; Pilot alone would take the screens from under it."""
    App.exit(app)
    while not app._closed:  # noqa: ASYNC110  it has no event
        await asyncio.sleep(0)


async def _play(app: ConsoleApp, runs: StreamingRuns, ended: list[RunFolder], rng: random.Random, ends: float) -> None:
    hand = Hand(app, rng)
    while time.monotonic() < ends:
        for _ in range(rng.randint(0, 3)):
            await runs.step()
        if rng.random() < 0.02:
            folders = [*ended, *(run.engine.recorder.folder for run in runs.runs)]
            show = rng.choice((app.navigator.open_live, app.navigator.open_live, app.navigator.open_review))
            app.call_later(show, rng.choice(folders))
        hand.act()
        for _ in range(rng.choice((0, 1, 2, 5, 20))):
            await asyncio.sleep(0)
        if rng.random() < 0.1:
            await wait_for_answers(app)
            await asyncio.sleep(0.02)
        if app.crash is not None:
            raise AssertionError(f"it ended after {list(hand.sent)}") from app.crash
    hand.send("\x1b")
    await wait_for_answers(app)
    async with asyncio.timeout(PATIENCE_S):
        while app._typed_keys._waiting:  # noqa: ASYNC110  it has no event
            await asyncio.sleep(0.01)
