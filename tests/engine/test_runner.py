"""The queue is played by real processes: one run after another, and a kill -9 of any of them loses nothing."""

import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from console.config.paths import WorkspacePaths
from console.core.fault import UsageError
from console.core.record import Finished
from console.core.run import Selection
from console.engine import launch, runner
from console.engine.launch import enqueue
from console.engine.plan import Plan
from console.engine.runner import play_queue, wake
from console.store.journal import JournalReader
from console.store.lock import read_holder
from console.store.run_queue import RunQueue
from console.store.runs import RunFolder

PATIENCE_S = 60.0


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A small simulated run; the home is empty, so that nothing of this machine plays a part."""
    for kind in ("STATE", "DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    selection, paths = Selection(("simple_python",), limit=3), WorkspacePaths(runs=tmp_path / "runs")
    return Plan("sim/careful", "bfcl-starter", selection, paths=paths)


def wait_until(holds: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends, "it never came to hold"
        time.sleep(0.02)


def finished(run: RunFolder) -> list[str]:
    records = JournalReader(run.journal_path).read_new()
    return [str(record.key) for record in records if isinstance(record, Finished)]


def kill_holder(path: Path) -> None:
    holder = read_holder(path)
    assert holder is not None
    os.kill(holder.pid, signal.SIGKILL)


def test_runs_are_played_one_after_another(plan, tmp_path):
    runs = enqueue([plan, plan, plan])
    queue = RunQueue(tmp_path / "runs")
    wait_until(lambda: not queue.names())
    ends = [run.summary() for run in runs]
    assert [one.state for one in ends] == ["completed"] * 3
    spans = [JournalReader(run.journal_path).read_new() for run in runs]
    assert all(before[-1].at <= after[0].at for before, after in itertools.pairwise(spans))
    wait_until(lambda: not queue.is_playing)


def test_a_plan_that_does_not_hold_queues_nothing(plan, tmp_path):
    import dataclasses

    with pytest.raises(UsageError, match="no suite"):
        enqueue([plan, dataclasses.replace(plan, suite="gone")])
    assert not (tmp_path / "runs").exists()


def test_a_killed_runner_and_engine_lose_nothing(plan, tmp_path, monkeypatch):
    """The engine dies in the middle of the first run, the runner with it; a new runner goes on where it stood."""
    import dataclasses

    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "human")
    long = dataclasses.replace(plan, selection=Selection(("simple_python",)), concurrency=1)
    runs = enqueue([long, plan])
    queue = RunQueue(tmp_path / "runs")
    wait_until(lambda: finished(runs[0]))
    kill_holder(tmp_path / "runs" / ".queue" / "runner")
    kill_holder(runs[0].lock_path)
    wait_until(lambda: not queue.is_playing and not runs[0].is_live)
    before = finished(runs[0])
    assert queue.names() == [run.name for run in runs]
    assert runs[0].summary().state == "interrupted"
    assert runs[1].summary().state == "queued"
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    assert wake(tmp_path / "runs")
    wait_until(lambda: not queue.names())
    assert [run.summary().state for run in runs] == ["completed", "completed"]
    assert finished(runs[0])[: len(before)] == before
    assert len(finished(runs[0])) == len(set(finished(runs[0]))) == runs[0].manifest().cases


def test_an_engine_that_outlived_its_runner_is_waited_for(plan, tmp_path, monkeypatch):
    import dataclasses

    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "human")
    runs = enqueue([dataclasses.replace(plan, concurrency=1), plan])
    queue = RunQueue(tmp_path / "runs")
    wait_until(lambda: runs[0].is_live)
    kill_holder(tmp_path / "runs" / ".queue" / "runner")
    wait_until(lambda: not queue.is_playing)
    assert runs[0].is_live or runs[0].is_closed
    assert wake(tmp_path / "runs")
    wait_until(lambda: not queue.names())
    opened = [type(record).__name__ for record in JournalReader(runs[0].journal_path).read_new()].count("Opened")
    assert opened == 1
    assert [run.summary().state for run in runs] == ["completed", "completed"]


def test_a_run_that_kills_two_engines_is_left_to_its_reader(plan, tmp_path, monkeypatch):
    engines: list[str] = []

    def spawn(run: RunFolder, **options: object) -> "subprocess.Popen[bytes]":
        engines.append(run.name)
        return subprocess.Popen(["sh", "-c", "kill -9 $$"])

    monkeypatch.setattr(launch, "wake", lambda root: False)
    runs = enqueue([plan, plan])
    monkeypatch.setattr(runner, "spawn_engine", spawn)
    play_queue(tmp_path / "runs", pytest.fail)
    assert engines == [run.name for run in runs for _ in range(2)]
    assert RunQueue(tmp_path / "runs").names() == []


def test_a_run_that_cannot_be_played_does_not_hold_up_the_others(plan, tmp_path):
    """Its suite is gone when its turn comes: the engine says so, the run keeps the words, the queue goes on."""
    import json

    runs = tmp_path / "runs"
    queued = [run.name for run in enqueue([plan])]
    wait_until(lambda: not RunQueue(runs).names())
    from console.store.run_queue import Queued

    manifest = json.loads((runs / queued[0] / "run.json").read_text())
    (runs / "gone").mkdir()
    (runs / "gone" / "run.json").write_text(json.dumps(manifest | {"id": "gone", "suite": "gone"}))
    wait_until(lambda: not RunQueue(runs).is_playing)
    RunQueue(runs).add([Queued("gone", 1.0), Queued("never-there", 1.0)])
    said: list[str] = []
    play_queue(runs, said.append)
    assert RunQueue(runs).names() == []
    summary = RunFolder(runs / "gone").summary()
    assert summary.state == "interrupted"
    assert "no suite is named" in summary.message
    assert "never-there" in said[0]
