"""What Live shows of a run's workers."""

from pathlib import Path
from typing import Any

import msgspec
from support.recorded_runs import plain_run
from support.screen_text import see
from textual.content import Content

from console.core.case import Setting
from console.core.live import EndpointState, Status, WorkerState
from console.core.run import Manifest, ModelFacts
from console.insight.overview import Overview
from console.tui.data.runs import RunLine
from console.tui.dialogs.help import TextScreen
from console.tui.render.progress import facts_lines, progress_line, worker_lines
from console.tui.render.rollout_rows import RunsLayout, state_and_waits


def test_each_worker_has_a_line_that_says_what_it_is_at():
    workers = [
        WorkerState("node-a/11", "playing", conversations=3, calls=40, since=80.0),
        WorkerState("", "starting"),
        WorkerState("node-b/12", "lost", calls=7, why="the node died \x1b[31m"),
    ]
    playing, starting, lost = (line.plain for line in worker_lines(workers, now=100.0))
    assert playing.startswith("node-a/11")
    assert playing.endswith("3 conversations   2 calls/s")
    assert starting.endswith("starting")
    assert "lost after 7 calls: the node died" in lost
    assert "\x1b" not in lost


async def test_the_list_of_workers_follows_the_run_while_it_is_open(opened: Any) -> None:
    states = [WorkerState("node-a/11", "playing", since=80.0)]
    async with opened() as (app, pilot):
        app.push_screen(TextScreen("Workers", lambda: worker_lines(states, now=100.0), "none"))
        await see(pilot, "node-a/11")
        states[0] = WorkerState("node-a/11", "lost", why="its process ended")
        await see(pilot, "its process ended")


def test_a_lost_worker_is_seen_without_a_key(tmp_path: Path):
    workers = [WorkerState("node-a/11"), WorkerState("node-b/12", "lost", why="the node died")]
    status = Status("running", 2, endpoints=[EndpointState("m", 1, 4)], workers=workers)
    folder = plain_run(tmp_path).folder
    live = msgspec.structs.replace(folder.summary(), state="running")
    line = RunLine(folder, live)
    assert state_and_waits(line, status, RunsLayout(is_wide=False)).plain == "1 worker lost"
    overview = Overview()
    overview.status = status
    run = Manifest(id="r", at=1.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=9)
    line = progress_line(overview, run, live=True, now=2.0, width=80, average=Content(".500")).plain
    assert "9 left   1 worker lost" in line


def test_a_run_slowed_by_rate_limits_says_so(tmp_path: Path):
    slowed = EndpointState("m", in_flight=5, limit=5, waiting=11, throttled=12, is_slowed=True)
    status = Status("running", 16, endpoints=[slowed])
    folder = plain_run(tmp_path).folder
    line = RunLine(folder, msgspec.structs.replace(folder.summary(), state="running"))
    assert state_and_waits(line, status, RunsLayout()).plain == "5/16 · slowed by 12 × 429"
    overview = Overview()
    overview.status = status
    run = Manifest(id="r", at=1.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=9)
    shown = progress_line(overview, run, live=True, now=2.0, width=120, average=Content(".500")).plain
    assert "5/16 · slowed by 12 × 429" in shown
    facts = [line.plain for line in facts_lines(overview, run, live=True, now=2.0, width=80)]
    assert any("5 of 5 in flight   11 queued · slowed by 12 × 429" in fact for fact in facts)


def test_a_long_fact_goes_on_below_its_value() -> None:
    paused = EndpointState("local", limit=3, waiting=1, throttled=1, paused_until=1e9)
    overview = Overview()
    overview.status = Status("running", 3, endpoints=[paused])
    run = Manifest(id="r", at=1.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=9)
    facts = [line.plain for line in facts_lines(overview, run, live=True, now=2.0, width=60)]
    place = next(place for place, fact in enumerate(facts) if fact.startswith("local "))
    assert facts[place].endswith("1 queued · slowed by 1")
    assert facts[place + 1].startswith(" " * 18 + "× 429   paused until ")
    assert max(map(len, facts)) <= 60
