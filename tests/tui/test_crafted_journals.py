"""Runs whose records were changed by somebody who can count checksums: every screen opens, nothing ends the app."""

import random
from pathlib import Path
from typing import Any

import pytest
from support.crafted_journals import craft
from support.fuzz_budget import BUDGET
from support.quick_rows import first_quick
from support.recorded_runs import plain_run
from support.screen_text import assert_until, wait_until_unchanged
from support.suite_runs import brick_run, code_run

from console.tui.screens.review.screen import ReviewScreen

MAKERS = {"calls": plain_run, "loops": brick_run, "code": code_run}
WALK = ("tab", *"vvvvvv", "n", *"vv", "x", "d", "n", "right_square_bracket", "n", "greater_than_sign", "s", "s")


@pytest.mark.parametrize("kind", first_quick(MAKERS))
@pytest.mark.parametrize("seed", range(BUDGET))
async def test_review_of_a_crafted_journal(workspace: Any, opened: Any, kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    run = MAKERS[kind](Path(workspace.paths.runs)).folder
    craft(run, rng)
    async with opened((120, 40)) as (app, pilot):
        app.navigator.open_review(run)
        await assert_until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await app.workers.wait_for_complete()
        for key in WALK:
            await pilot.press(key)
            await wait_until_unchanged(app, pilot)
        app.navigator.open_live(run)
        await app.workers.wait_for_complete()
        await wait_until_unchanged(app, pilot)
        app.navigator.open_compare(run, run)
        await app.workers.wait_for_complete()
        await wait_until_unchanged(app, pilot)
        assert app.is_running
