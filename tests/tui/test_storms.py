"""Storms of pastes and sizes leave every screen as it was."""

import asyncio
from typing import Any

import pytest
from support.quick_rows import first_quick
from support.recorded_runs import plain_run
from support.screen_text import assert_no_control_byte, see, wait_until_unchanged
from support.screen_tour import go
from textual.events import Paste

SIZE = (100, 30)
SIZES = ((20, 5), (200, 60), (41, 10), (1, 1), SIZE)
PASTES = ("line\n" * 20_000, "\x1b[2J\x1b]52;c;eA==\x07\x9b31m\r\x00q\x1b:y/\t‮漢\ud800" * 500)


@pytest.mark.parametrize("place", first_quick(["live", "home", "review"]))
async def test_a_storm_of_pastes_and_sizes_leaves_the_screen_as_it_was(
    opened: Any, workspace: Any, frame: Any, place: str
) -> None:
    run = plain_run(workspace.root / "runs").folder
    async with opened(SIZE) as (app, pilot):

        async def storm() -> None:
            for text in PASTES:
                app.post_message(Paste(text))
                await asyncio.gather(*(pilot.resize_terminal(*size) for size in SIZES))
            await wait_until_unchanged(app, pilot)

        await go(app, pilot, place, run, run, run)
        await pilot.press("slash", "escape")
        await wait_until_unchanged(app, pilot)
        before, focused = frame(app), app.focused
        await storm()
        assert (frame(app), app.focused) == (before, focused)
        await pilot.press("slash")
        await storm()
        assert_no_control_byte(app)
        await see(pilot, lambda: frame(app) == before, "escape")
