"""The strips of Live: what stands in them in little room, and which runs stay in them."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.fake_engine import FakeEngine
from support.recorded_runs import plain_run
from support.screen_text import assert_until, see, settle, text_of

from console.core.case import Key, Setting
from console.core.live import Activity, EndpointState, Status
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Opened
from console.core.run import Manifest, ModelFacts, Tally
from console.insight.overview import Overview
from console.store.runs import create_run
from console.tui.data.runs import RunLine
from console.tui.render.progress import facts_lines
from console.tui.render.rollout_rows import run_cells


def strip(tmp_path: Path, *, width: int, **tally: Any) -> str:
    """Return the cells of a strip of a run of twelve cases and ten of setup."""
    folder = plain_run(tmp_path).folder
    summary = msgspec.structs.replace(folder.summary(), planned=22, setup=10, tally=Tally(**tally))
    cells = run_cells(RunLine(folder, summary), None, is_watched=False, with_cost=False, width=width)
    assert isinstance(cells, tuple)
    return "|".join(cell.plain for cell in cells)


def test_a_narrow_strip_says_how_far_the_setup_is_and_then_the_cases(tmp_path: Path) -> None:
    assert "|setup 4/10|" in strip(tmp_path / "a", width=80, setup=4)
    assert "|✓3 ✗1 of 12|" in strip(tmp_path / "b", width=80, setup=10, passed=3, failed=1)
    wide = strip(tmp_path / "c", width=160, setup=10, passed=3)
    assert "|3/12 + 10 setup|" in wide
    assert "not graded" not in wide, "the column before it says it"
    broken = strip(tmp_path / "d", width=160, setup=8, broken_setup=2, passed=12, not_run=0)
    assert "|12/12 + 10 setup|" in broken, "broken setup is no case"
    assert "|✓3 ·3 of 12|" in strip(tmp_path / "f", width=80, setup=10, passed=3, not_run=3)
    assert "· 3 not run" in strip(tmp_path / "e", width=160, setup=10, passed=3, not_run=3)


@pytest.mark.parametrize("width", [80, 160])
def test_the_time_left_grows_while_nothing_is_answered_and_is_then_left_out(tmp_path: Path, width: int) -> None:
    """Three of 13 cases took 90 s, with two at once."""
    run = Manifest(id="r", at=100.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=13)
    overview = Overview()
    overview.apply(Opened(at=100.0, pid=1))
    for number in (1, 2, 3):
        ended = Finished(at=100.0 + 30 * number, key=Key(f"case-{number}"), verdict=Verdict(Outcome.PASSED))
        overview.apply(ended)
    overview.status = Status("running", 2, [Activity(Key("case-4"), "asking", since=190.0)])
    shown: list[str] = []
    for now in (190.0, 280.0, 309.0, 311.0):
        summary = overview.fold.summary(run, live=True, now=now, damaged=0, journal_bytes=0)
        line = RunLine(create_run(tmp_path / str(now), run), summary)
        cells = run_cells(line, overview.status, is_watched=True, with_cost=False, width=width)
        shown.append(cells[-2].plain)
    assert shown == ["~5 min", "~10 min", "~12 min", "–"]
    limited = EndpointState("m", why="rate limited", paused_until=240.0)  # other runs have all its requests
    line = RunLine(create_run(tmp_path / "limited", run), msgspec.structs.replace(summary, state="running"))
    words = run_cells(line, Status("running", 2, endpoints=[limited]), is_watched=True, with_cost=False, width=width)
    assert "rate limited" in words[-1].plain
    for now, status in ((311.0, overview.status), (200.0, Status("running", 2, endpoints=[limited]))):
        overview.status = status
        facts = [line.plain for line in facts_lines(overview, run, live=True, now=now)]
        assert any("ETA" in line and "–, nothing is answered at present" in line for line in facts)


def test_figures_have_no_mean_of_blame_which_only_failures_have() -> None:
    run = Manifest(id="r", at=100.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=2)
    overview = Overview()
    failed = Verdict(Outcome.FAILED, scores={"reward": 0.0, "blame: agent": 1.0})
    overview.apply(Finished(at=130.0, key=Key("case-1"), verdict=failed))
    facts = "\n".join(line.plain for line in facts_lines(overview, run, live=False, now=131.0))
    assert "reward" in facts
    assert "blame" not in facts


async def test_a_run_that_ends_while_it_is_seen_stays_among_the_runs(opened: Any, workspace: Any) -> None:
    root = workspace.root / "runs"
    one = FakeEngine(root, name="2026-01-01T0000-a", model=ModelFacts("hasty"))
    other = FakeEngine(root, name="2026-01-01T0000-b", model=ModelFacts("careful"))
    async with one, other, opened() as (app, pilot):
        await assert_until(pilot, lambda: len(app.services.workspace.live) == 2)
        app.navigator.open_live(one.recorder.folder)
        await assert_until(pilot, lambda: app.screen.where == "live" and app.screen.live_runs_panel.strips == 2)
        other.recorder.start("case-1")
        await other.die()

        def is_listed() -> bool:
            app.services.workspace.look()
            return "interrupted 0/4 · r resumes" in text_of(app)

        await assert_until(pilot, is_listed)
        await see(pilot, "1 ended (E shows them)", "E")
        await pilot.press("E", "escape", "2")
        await assert_until(pilot, lambda: app.screen.where == "live" and not app.screen.has_class("-several-runs"))


async def test_the_key_line_offers_to_resume_a_run_that_dies_while_it_is_watched(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened(size=(130, 36)) as (app, pilot):
        await assert_until(pilot, lambda: bool(app.services.workspace.live))
        app.navigator.open_live(engine.recorder.folder)
        await see(pilot, "running")
        engine.recorder.start("case-1")
        await engine.die()
        await see(pilot, "r resumes it")

        def is_offered() -> bool:
            app.services.workspace.look()
            return "r resume " in text_of(app).splitlines()[-1]

        await assert_until(pilot, is_offered)


async def test_an_interrupted_run_says_of_nothing_that_it_runs(opened: Any, workspace: Any) -> None:
    engine = FakeEngine(workspace.root / "runs", name="2026-01-01T0000-a")
    async with engine:
        engine.recorder.start("case-1")
    async with opened() as (app, pilot):
        app.navigator.open_live(engine.recorder.folder)
        await settle(app, pilot)
        await see(pilot, "1 interrupted")
        assert "running" not in text_of(app)


async def test_two_opens_a_live_run_rather_than_the_one_that_has_ended(opened: Any, workspace: Any) -> None:
    root = workspace.root / "runs"
    over = plain_run(root, name="2026-01-01T0000-over").folder
    one = FakeEngine(root, name="2026-01-01T0001-one", model=ModelFacts("hasty"))
    other = FakeEngine(root, name="2026-01-01T0002-other", model=ModelFacts("careful"))
    async with one, other, opened() as (app, pilot):
        await assert_until(pilot, lambda: len(app.services.workspace.live) == 2)
        app.navigator.open_live(over)
        await assert_until(pilot, lambda: app.screen.where == "live" and app.screen.live_runs_panel.strips == 3)
        await pilot.press("1")
        await see(pilot, lambda: app.screen.where == "live" and app.screen.run_folder.path != over.path, "2")
        first = app.screen.run_folder.path
        await assert_until(pilot, lambda: app.screen.live_runs_panel.strips >= 2)
        await see(pilot, lambda: app.screen.run_folder.path not in (first, over.path), "right_square_bracket")
        await see(pilot, lambda: app.screen.run_folder.path == first, "right_square_bracket")


async def test_a_change_of_the_server_within_a_run_is_said(opened: Any, workspace: Any) -> None:
    async with (
        FakeEngine(workspace.root / "runs", name="2026-01-01T0000-a") as engine,
        opened((160, 45)) as (app, pilot),
    ):
        for number, server in enumerate(("vendor-x fp_1", "vendor-x fp_2")):
            key = engine.recorder.start(f"case-{number}")
            engine.recorder.finish(key, Outcome.PASSED, server=server)
        app.navigator.open_live(engine.recorder.folder)
        await see(pilot, "answered by 2 servers")
