"""Opening Review on a run, and waiting until it is read and drawn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from support.screen_text import assert_until, wait_until_unchanged
from textual.pilot import Pilot

from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.screens.review.screen import ReviewScreen


async def review(app: ConsoleApp, pilot: Pilot[int], folder: RunFolder, case: str | None = None) -> ReviewScreen:
    app.navigator.open_review(folder, (case, 0) if case else None)
    await assert_until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.is_mounted)
    screen = app.screen
    assert isinstance(screen, ReviewScreen)
    await assert_until(pilot, lambda: screen.feed is not None and screen.feed.is_read)
    await app.workers.wait_for_complete()
    await wait_until_unchanged(app, pilot)
    return screen


@asynccontextmanager
async def reviewing(
    opened: Any, folder: RunFolder, case: str | None = None, *, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[ConsoleApp, Pilot[int], ReviewScreen]]:
    """Open the app, and a run in Review."""
    async with opened(size) as (app, pilot):
        yield app, pilot, await review(app, pilot, folder, case)
