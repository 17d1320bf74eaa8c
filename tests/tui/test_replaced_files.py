"""A file of a run that is replaced or gone while screens show the run ends nothing but what needs it."""

from typing import Any

import pytest
from support.quick_rows import first_quick
from support.recorded_runs import plain_run
from support.replaced_files import KINDS, replace
from support.screen_text import assert_until, wait_until_unchanged
from support.screen_tour import go

PLACES = {"home": (), "live": (), "review": (), "compare": (), "grid": ("compare",), "search": ()}
"""Screens, and those to which one goes first."""
WALK = ("n", "v", "x", "down", "enter", "escape", "s", "s", "1", "enter", "3", "n", "2", "down", "4")


@pytest.mark.parametrize("kind", first_quick(KINDS))
@pytest.mark.parametrize("place", PLACES)
async def test_a_journal_that_is_replaced_while_it_is_shown(opened: Any, workspace: Any, place: str, kind: str) -> None:
    runs = [plain_run(workspace.root / "runs", name=f"2027-01-01T0000-{name}").folder for name in "abc"]
    async with opened((120, 40)) as (app, pilot):
        for before in (*PLACES[place], place):
            await go(app, pilot, before, *runs)
        for run in runs:
            replace(run.journal_path, kind)
        app.services.workspace.look()
        for key in WALK:
            await pilot.press(key)
            await wait_until_unchanged(app, pilot)
            assert app.crash is None
        await assert_until(pilot, lambda: app.is_running)
