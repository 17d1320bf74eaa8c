"""The strips of Live: what stands in them in little room, and which runs stay in them."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.fake_engine import FakeEngine
from support.recorded_runs import Recorder, plain_run
from support.screen_text import assert_until, see, settle, text_of
from textual.content import Content

from console.core.case import Key, Setting
from console.core.live import Activity, EndpointState, Status
from console.core.looks import Look
from console.core.outcome import Outcome, Verdict
from console.core.record import Closed, Finished, Opened
from console.core.run import Manifest, ModelFacts, Tally
from console.insight.overview import Overview
from console.store.runs import RunFolder, create_run
from console.tui.data.runs import RunLine
from console.tui.render.columns import row
from console.tui.render.progress import facts_lines, notice_words, progress_line, state_words
from console.tui.render.rollout_rows import run_cells, runs_layout


def cells_of(line: RunLine, status: Status | None = None, *, width: int) -> tuple[Content, ...]:
    """Return the cells of a run listed alone."""
    statuses = {} if status is None else {line.folder.path: status}
    cells = run_cells(line, status, runs_layout([line], statuses, width))
    assert isinstance(cells, tuple)
    return cells


def strip(tmp_path: Path, *, width: int, **tally: Any) -> str:
    """Return the cells of a strip of a run of twelve cases and ten of setup."""
    folder = plain_run(tmp_path).folder
    summary = msgspec.structs.replace(folder.summary(), planned=22, setup=10, tally=Tally(**tally))
    cells = cells_of(RunLine(folder, summary), width=width)
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


@pytest.mark.parametrize("width", [78, 127, 157])
def test_a_run_that_was_interrupted_has_the_columns_of_those_that_play(tmp_path: Path, width: int) -> None:
    """No number is cut, whatever the words beside it."""
    folder = plain_run(tmp_path).folder
    common = msgspec.structs.replace(folder.summary(), model="sim/careful", suite="bfcl-starter/simple", simulated=True)
    look = Look(1, 2, rollouts=1_900, planned=2_000, value=0.552)
    plays = msgspec.structs.replace(
        common, planned=2_000, state="running", look=look, is_shown_by_look=True, seconds=100.0,
        tally=Tally(passed=1_106, failed=893),
    )  # fmt: skip
    over = msgspec.structs.replace(
        common, model="sim/hasty", planned=127, setup=12, state="interrupted", tally=Tally(passed=2, failed=5, setup=5)
    )
    lines = [RunLine(RunFolder(tmp_path / "a"), plays), RunLine(RunFolder(tmp_path / "b"), over)]
    status = Status("running", 8, endpoints=[EndpointState("m", in_flight=8, limit=32)])
    layout = runs_layout(lines, {lines[0].folder.path: status}, width)
    cells = [run_cells(line, status, layout) for line in lines]
    rows = [row(layout.columns, each, width).plain for each in cells if isinstance(each, tuple)]
    assert len({text.index("bfcl-") for text in rows}) == 1
    score = rows[0].index(".552")
    assert rows[1][score - 2 : score] == "  "
    assert rows[1][score] != " "
    assert rows[0].rstrip().endswith({78: "8/32", 127: "8/32 req.", 157: "8/32 requests"}[width])
    assert ("✓1,106 ✗893 of 2,000" if width == 78 else "1,999/2,000") in rows[0]
    assert ("✓2 ✗5 of 115" if width == 78 else "7/115 + 5/12 setup") in rows[1]
    assert "interrupted" in rows[1]
    assert ("r resumes" in rows[1]) is (width > 78)


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
        cells = cells_of(line, overview.status, width=width)
        shown.append(cells[-2].plain)
    assert shown == ["~5 min", "~10 min", "~12 min", "–"]
    limited = EndpointState("m", why="rate limited", paused_until=240.0)  # other runs have all its requests
    line = RunLine(create_run(tmp_path / "limited", run), msgspec.structs.replace(summary, state="running"))
    words = cells_of(line, Status("running", 2, endpoints=[limited]), width=width)
    assert "rate limited" in words[-1].plain
    for now, status in ((311.0, overview.status), (200.0, Status("running", 2, endpoints=[limited]))):
        overview.status = status
        facts = [line.plain for line in facts_lines(overview, run, live=True, now=now, width=80)]
        assert any("ETA" in line and "–, nothing is answered at present" in line for line in facts)


def test_figures_have_no_mean_of_blame_which_only_failures_have() -> None:
    run = Manifest(id="r", at=100.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=2)
    overview = Overview()
    failed = Verdict(Outcome.FAILED, scores={"reward": 0.0, "blame: agent": 1.0})
    overview.apply(Finished(at=130.0, key=Key("case-1"), verdict=failed))
    facts = "\n".join(line.plain for line in facts_lines(overview, run, live=False, now=131.0, width=80))
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
            row = next((row for row in text_of(app).splitlines() if "careful" in row), "")
            return "0 of 4" in row and "interrupted · r resumes" in row

        await assert_until(pilot, is_listed)
        await see(pilot, "1 ended (E shows them)", "E")
        await pilot.press("E", "escape", "2")
        await assert_until(pilot, lambda: app.screen.where == "live" and not app.screen.has_class("-several-runs"))


async def test_the_list_and_the_top_line_say_at_once_that_the_watched_run_has_ended(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = workspace.root / "runs"
    one = FakeEngine(root, name="2026-01-01T0000-a", model=ModelFacts("hasty"))
    other = FakeEngine(root, name="2026-01-01T0000-b", model=ModelFacts("careful"))
    async with one, other, opened() as (app, pilot):
        await assert_until(pilot, lambda: len(app.services.workspace.live) == 2)
        app.navigator.open_live(one.recorder.folder)
        await assert_until(pilot, lambda: app.screen.where == "live" and app.screen.live_runs_panel.strips == 2)
        one.recorder.start("case-1")
        looks: list[bool] = []
        monkeypatch.setattr(app.services.workspace, "look", lambda: looks.append(True))
        await one.end()
        await see(pilot, lambda: "finished" in text_of(app).splitlines()[0])
        row = next(row for row in text_of(app).splitlines()[1:] if "hasty" in row)
        assert "finished" in row
        assert looks


def test_the_end_of_an_engine_is_not_said_before_its_last_records_are_read() -> None:
    run = Manifest(id="r", at=100.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=2)
    overview = Overview()
    overview.apply(Opened(at=100.0, pid=1))
    overview.status = Status("running", 2)
    assert "running" in state_words(overview, run, live=False, now=101.0).plain
    assert not notice_words(overview, run, live=False, nothing_live=True)
    overview.apply(Closed(at=101.0, reason="completed"))
    assert "finished" in state_words(overview, run, live=False, now=101.0).plain


def test_no_speed_is_said_while_nothing_is_answered() -> None:
    run = Manifest(id="r", at=100.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=2)
    overview = Overview()
    overview.pace.wrote(4_000)
    shown: list[bool] = []
    for paused_until in (None, 400.0):
        overview.status = Status("running", 2, endpoints=[EndpointState("m", paused_until=paused_until)])
        line = progress_line(overview, run, live=True, now=101.0, width=120, average=Content(".500"))
        shown.append("tok/s" in line.plain)
    assert shown == [True, False]


def test_a_reason_for_waiting_loses_words_before_the_score_is_dropped() -> None:
    run = Manifest(id="r", at=100.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=29)
    overview = Overview()
    why = "the provider asks to wait"
    overview.status = Status("running", 2, endpoints=[EndpointState("m", waiting=2, why=why)])
    for width, shown in ((80, "29 left   m waits   .042 (first 24 of 29)"), (120, f"   m waits: {why}   .042 (first ")):
        average = Content(".042 (first 24 of 29)")
        line = progress_line(overview, run, live=True, now=101.0, width=width, average=average)
        assert shown in line.plain
    long, short = Content(".042 (first 24 of 29: only facts, choices and 3 more)"), Content(".042 (first 24 of 29)")
    line = progress_line(overview, run, live=True, now=101.0, width=124, average=long, short_average=short)
    assert ".042 (first 24 of 29)   2 at once" in line.plain, "a number before the words of another"


async def test_at_80_cells_the_failures_of_a_live_run_have_a_title(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        await assert_until(pilot, lambda: bool(app.services.workspace.live))
        app.navigator.open_live(engine.recorder.folder)
        engine.recorder.finish(engine.recorder.start("case-1"), Outcome.FAILED, "wrong_value")
        await see(pilot, "Failures  1 failed, latest first")
        await see(pilot, "words to find in the text", "slash")


async def test_ids_are_whole_where_there_is_room(opened: Any, workspace: Any) -> None:
    id = "memory_rec_sum_prereq_0-student-0"
    recorder = Recorder(workspace.root / "runs", cases=1)
    recorder.finish(recorder.start(id), Outcome.PASSED)
    recorder.close()
    async with opened((160, 45)) as (app, pilot):
        app.navigator.open_live(recorder.folder)
        await see(pilot, f"✓  {id}  ")


async def test_the_key_line_offers_to_resume_a_run_that_dies_while_it_is_watched(opened: Any, workspace: Any) -> None:
    """Also at 80 cells, where the rows of runs have no room for the key."""
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
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
