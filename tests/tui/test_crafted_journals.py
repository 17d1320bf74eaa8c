"""Runs whose records were changed by somebody who can count checksums: every screen opens, nothing ends the app."""

import json
import random
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from support.fuzz_budget import BUDGET
from support.made_up_json import change
from support.quick_rows import first_quick
from support.recorded_runs import plain_run
from support.screen_text import assert_until, wait_until_unchanged
from support.suite_runs import brick_run, code_run

from console.store.runs import RunFolder
from console.tui.screens.review.screen import ReviewScreen

MAKERS = {"calls": plain_run, "loops": brick_run, "code": code_run}
FREE = ("messages", "tools", "params", "output", "request", "result", "data")
"""Members of a record that hold whatever a suite or a model put there."""
WALK = ("tab", *"vvvvvv", "n", *"vv", "x", "d", "n", "right_square_bracket", "n", "greater_than_sign", "s", "s")


def craft(run: RunFolder, rng: random.Random) -> None:
    """Change what records hold, and give every line the checksum it needs."""
    lines: list[bytes] = []
    for line in run.journal_path.read_bytes().splitlines():
        record = {name: value for name, value in json.loads(line).items() if name != "crc"}
        for name in FREE:
            if name in record and rng.random() < 0.5:
                record[name] = change(record[name], rng)
        for name, part in (("case", "data"), ("verdict", "detail"), ("verdict", "scores")):
            if name in record and rng.random() < 0.5:
                record[name][part] = change(record[name].get(part, {}), rng)
        body = json.dumps(record).replace("NaN", "null").replace("Infinity", "1").encode()[:-1]
        lines.append(body + b',"crc":"%08x"}\n' % crc32(body))
    run.journal_path.write_bytes(b"".join(lines))
    for path in (run.summary_path, run.index_path):
        path.unlink(missing_ok=True)


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
