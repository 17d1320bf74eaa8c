"""A disk that is full for a while: the run waits with what it has, then goes on; nothing is lost or glued together."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reliability.conftest import COMMAND
from server.openai_server import OpenAIServer
from support.lookup_suite import only_run, records, results, right, until, write_models, write_suite
from support.mounted_folders import on_small_disk, seen_by

from console.core.outcome import Outcome
from console.core.record import Closed

Start = Callable[..., "subprocess.Popen[str]"]
CASES = 12


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(right) as running:
        yield running


def on_a_disk_that_fills_up(home: Path, start: Start, server: OpenAIServer) -> "subprocess.Popen[str]":
    """Start a run on a disk that its journal does not fit on, and return when it has said so."""
    runs = home / "small"
    runs.mkdir()
    data = write_suite(home / "data", CASES, " " + "x" * 20_000)
    write_models(home, server)
    given = ["--data", str(data), "--runs", str(runs), "-c", "1", "--json", "--quiet"]
    process = start(on_small_disk(runs, 1200, 900, [*COMMAND, "run", "-m", "m", "-s", "lookups", *given]))
    assert process.stderr is not None
    while "No space left on device" not in (line := process.stderr.readline()):
        assert line, "it ended before the disk was full"
    assert "the run waits" in line
    return process


def test_a_run_waits_for_space_and_loses_nothing(home: Path, start: Start, server: OpenAIServer) -> None:
    process = on_a_disk_that_fills_up(home, start, server)
    whole = only_run(seen_by(process.pid, home / "small"))
    played = len(results(whole))
    assert 0 < played < CASES
    (seen_by(process.pid, home / "small") / "ballast").unlink()
    out, err = process.communicate(timeout=110)
    assert process.returncode == 0, err
    assert "waiting ones are written" in err
    assert json.loads(out)["summary"]["tally"]["passed"] == CASES
    ended = results(only_run(home / "kept"))
    assert len(ended) == CASES
    assert {verdict.outcome for verdict, _, _ in ended.values()} == {Outcome.PASSED}
    assert server.counts["chat"] == CASES, "no call was made twice, or thrown away"


def test_who_does_not_want_to_wait_loses_only_what_was_held(home: Path, start: Start, server: OpenAIServer) -> None:
    process = on_a_disk_that_fills_up(home, start, server)
    lock = only_run(seen_by(process.pid, home / "small")) / "lock"
    os.kill(json.loads(lock.read_bytes())["pid"], signal.SIGTERM)
    _, err = process.communicate(timeout=110)
    assert process.returncode == 3
    assert "No space left" in err
    run = only_run(home / "kept")
    before = results(run)
    assert before
    command = [*COMMAND, "resume", "--runs", str(home / "kept"), "--data", str(home / "data"), "--json", "--quiet"]
    again = start(command)
    assert again.wait(110) == 0
    after = results(run)
    assert len(after) == CASES
    assert after | before == after
    closed = records(run)[-1]
    assert isinstance(closed, Closed)
    assert closed.reason == "completed"


def test_no_space_for_a_new_run_is_said_before_anything_is_asked(
    home: Path, start: Start, server: OpenAIServer
) -> None:
    runs = home / "small"
    runs.mkdir()
    data = write_suite(home / "data", 1)
    write_models(home, server)
    given = ["--data", str(data), "--runs", str(runs)]
    process = start(on_small_disk(runs, 8, 8, [*COMMAND, "run", "-m", "m", "-s", "lookups", *given]))
    _, err = process.communicate(timeout=110)
    assert process.returncode == 2, err
    assert "cannot be written: No space left on device" in err
    assert server.counts["chat"] == 0
    assert until(lambda: (home / "kept").is_dir())
    assert [path.name for path in (home / "kept").iterdir()] == ["ballast"], "no half-made run is left"
