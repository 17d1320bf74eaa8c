"""Grading again from Review: a judge is chosen and confirmed, and the old grading opens beside the new one."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.screen_text import assert_until, see, text_of

from console.config.paths import WorkspacePaths
from console.core.run import Selection
from console.engine.engine import Engine
from console.engine.launch import start
from console.engine.plan import Plan
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.small_dialogs import Question

STARTER = Path(__file__).resolve().parents[2] / "data" / "aidan-starter"


@pytest.fixture
def played(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    shutil.copytree(STARTER, workspace.root / "data" / "aidan-starter")
    data, runs = workspace.root / "data", workspace.root / "runs"
    plan = Plan("sim/hasty", "aidan-starter", Selection(limit=3), paths=WorkspacePaths(data=data, runs=runs))
    folder, prepared = start(plan)
    asyncio.run(Engine(folder, prepared).run())
    return folder


async def test_a_run_is_graded_again_and_compared_with_itself(opened: Any, played: Any) -> None:
    async with opened((130, 36)) as (app, pilot):
        app.navigator.open_review(played)
        await assert_until(pilot, lambda: app.screen.where == "review" and app.screen.feed is not None)
        await assert_until(pilot, lambda: app.screen.feed.is_read)
        await see(pilot, lambda: isinstance(app.screen, Chooser), "A", "g")
        assert "as before" in text_of(app)
        await see(pilot, lambda: isinstance(app.screen, Question), "enter")
        assert "no answered question is asked again" in text_of(app)
        await see(pilot, lambda: app.screen.where == "compare", "y")
        old, new = app.screen.controller.folders
        assert old.name == played.name
        assert new.manifest().regraded == played.name
        await assert_until(pilot, lambda: new.summary().state == "completed")
        assert new.summary().tally.calls == 0
