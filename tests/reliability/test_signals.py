"""Every signal at a run that is under way, in the foreground and detached; then resume equals a run left alone."""

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reliability.conftest import COMMAND
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import number_of, only_run, records, results, right, until, write_models, write_suite

from console.core.record import Closed
from console.store.lock import is_held, read_holder

Start = Callable[..., "subprocess.Popen[str]"]
CASES, PROMPT = 10, 4


class Library:
    """Answers some questions at once; the others as late as `late_s` says."""

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()
        self.late_s = 60.0
        self.server = OpenAIServer(self.answer)

    def answer(self, request: dict[str, Any]) -> Scripted:
        number = number_of(request)
        self.asked[number] += 1
        return right(request, latency_s=0.0 if number < PROMPT else self.late_s)


@pytest.fixture
def library() -> Iterator[Library]:
    library = Library()
    with library.server:
        yield library


@pytest.fixture
def flags(home: Path, library: Library) -> list[str]:
    write_models(home, library.server)
    return ["--data", str(write_suite(home / "data", CASES))]


def is_under_way(home: Path, library: Library) -> Path | None:
    """The run's folder, once the prompt answers are journaled and two late ones are waited for."""
    if sum(library.asked[number] for number in range(PROMPT, CASES)) < 2:
        return None
    run = only_run(home / "runs")
    return run if (run / "journal.jsonl").read_bytes().count(b'"t":"finished"') == PROMPT else None


def ends(process: "subprocess.Popen[str]", numbers: list[signal.Signals]) -> int:
    """Send signals, each after the effect of the one before was said, and return the exit code."""
    assert process.stderr is not None
    for number in numbers:
        process.send_signal(number)
        while number is signal.SIGINT and not process.stderr.readline().startswith(("stopping", "aborting")):
            if process.poll() is not None:
                break
    return process.wait(110)


SIGNALS = [
    ("SIGKILL", [signal.SIGKILL], 60.0, -9, None),
    ("SIGTERM", [signal.SIGTERM], 60.0, 143, "stopped"),
    ("SIGINT", [signal.SIGINT], 0.7, 130, "stopped"),
    ("SIGINT twice", [signal.SIGINT] * 2, 60.0, 130, "stopped"),
    ("SIGHUP, then SIGTERM", [signal.SIGHUP, signal.SIGTERM], 60.0, 143, "stopped"),
]


@pytest.mark.parametrize(
    ("numbers", "late_s", "code", "reason"),
    [pytest.param(*row, id=name, marks=() if name == "SIGINT twice" else pytest.mark.slow) for name, *row in SIGNALS],
)
def test_a_foreground_run(
    console, home: Path, start: Start, library: Library, flags: list[str], numbers, late_s, code, reason
) -> None:
    library.late_s = late_s
    process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "-c", "2", *flags])
    run = until(lambda: is_under_way(home, library))
    assert ends(process, numbers) == code
    in_flight_finished = CASES if late_s < 1 else PROMPT
    if reason is not None:
        closed = records(run)[-1]
        assert isinstance(closed, Closed)
        assert closed.reason == reason
    assert PROMPT <= len(results(run)) <= min(PROMPT + 2, in_flight_finished)
    assert console("runs", "--json").data["runs"][0]["state"] == (reason or "interrupted")
    resume_equals_undisturbed(console, run, library, flags)


@pytest.mark.slow
def test_leaving_at_once_with_a_third_interrupt(console, home: Path, library: Library, flags: list[str]) -> None:
    """Even when giving up hangs, which is where the third one arrives."""
    program = (
        "import asyncio, os, signal, sys\n"
        "from console.engine.engine import Engine\n"
        "original = Engine._shut_down\n"
        "async def hang(self):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    await asyncio.sleep(60)\n"
        "Engine._shut_down = hang\n"
        "from console.__main__ import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [COMMAND[0], "-c", program, "run", "-m", "m", "-s", "lookups", "-c", "2", *flags]
    environment = dict(os.environ) | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        run = until(lambda: is_under_way(home, library))
        assert ends(process, [signal.SIGINT] * 2) == 130
        assert process.stderr is not None
        assert "did not end in time" not in process.stderr.read(), "the second one has a limit, the third ends at once"
    assert not is_held(run / "lock")
    resume_equals_undisturbed(console, run, library, flags)


@pytest.mark.parametrize(
    ("number", "state"),
    [
        pytest.param(signal.SIGKILL, "interrupted", id="SIGKILL", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, "stopped", id="SIGTERM", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, "stopped", id="SIGINT", marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, "running", id="SIGHUP"),
    ],
)
def test_a_detached_run(console, home: Path, library: Library, flags: list[str], monkeypatch, number, state) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    library.late_s = 60.0 if number is signal.SIGKILL or number is signal.SIGTERM else 0.7
    assert console("run", "-m", "m", "-s", "lookups", "-c", "2", "--detach", *flags).code == 0
    run = until(lambda: is_under_way(home, library))
    holder = read_holder(run / "lock")
    assert holder is not None
    os.kill(holder.pid, number)
    if state == "running":
        until(lambda: (run / "journal.jsonl").read_bytes().count(b'"t":"finished"') > PROMPT)
        assert console("runs", "--json").data["runs"][0]["state"] in ("running", "completed")
        library.late_s = 0.0
    until(lambda: not is_held(run / "lock"))
    assert console("runs", "--json").data["runs"][0]["state"] == ("completed" if state == "running" else state)
    resume_equals_undisturbed(console, run, library, flags)


def resume_equals_undisturbed(console, run: Path, library: Library, flags: list[str]) -> None:
    """Go on where it was left, and compare with a run that nothing happened to."""
    library.late_s = 0.0
    assert console("resume", run.name, *flags, "--quiet").code in (0, 5)
    paid = Counter(library.asked)
    assert all(1 <= paid[number] <= 2 for number in range(CASES)), "only what was in flight was asked twice"
    assert [paid[number] for number in range(PROMPT)] == [1] * PROMPT
    whole = console("run", "-m", "m", "-s", "lookups", *flags, "--json", "--quiet")
    assert whole.code == 0
    assert results(run) == results(run.parent / whole.data["run"])
    mended = console("show", run.name, "--json").data
    assert mended["report"] == console("show", whole.data["run"], "--json").data["report"]
    assert mended["summary"]["state"] == "completed"
