"""An engine that is busy or stuck answers a second ctrl+c, ends with a sentence, and its run is resumed."""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from reliability.conftest import COMMAND
from server.openai_server import OpenAIServer
from support.escaping_suite import write_escaping_suite
from support.lookup_suite import only_run, results, right, until, write_models, write_suite
from support.quick_rows import first_quick

from console.core.record import Finished
from console.store.journal import JournalReader

Start = Callable[..., "subprocess.Popen[str]"]
MAIN = "\nimport sys\nfrom console.__main__ import main\nsys.exit(main())\n"
BUSY = {
    "a loop in Python": "open('busy', 'w').close()\n            while True: pass",
    "a wait for a lock": (
        "open('busy', 'w').close()\n            lock = threading.Lock()\n            while lock.acquire(): pass"
    ),
    "code that swallows every exception": (
        "open('busy', 'w').close()\n"
        "            while True:\n"
        "                with contextlib.suppress(BaseException): time.sleep(600)"
    ),
}


@pytest.mark.parametrize("name", first_quick(BUSY))
def test_a_second_interrupt_ends_an_engine_whose_loop_is_busy(console, home: Path, start: Start, name: str) -> None:
    write_escaping_suite(home / "data", play=BUSY[name])
    assert console("allow", "escapes").code == 0
    process = start([*COMMAND, "run", "-m", "sim/careful", "-s", "escapes"])
    until(lambda: (home / "busy").exists())
    began = time.monotonic()
    _interrupt_until_ended(process)
    assert process.returncode == 130
    assert time.monotonic() - began < 20  # before the limit of 30 s for code that blocks
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()


def _interrupt_until_ended(process: "subprocess.Popen[str]") -> None:
    """Press ctrl+c as a person does, every half second: interrupts that come together count as one."""
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
            return
    process.wait(110)


STUCK = {
    "a lock of Python": ("import threading\nlock = threading.Lock()\nlock.acquire()\nstick = lock.acquire", 70),
    "a lock in C": (
        "import ctypes\n"
        "library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(256)\n"  # with the interpreter's lock held
        "library.pthread_mutex_lock(lock)\n"
        "def stick():\n    library.pthread_mutex_lock(lock)",
        -signal.SIGKILL,
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the lock in C is all zeros in Linux's libraries only")
@pytest.mark.parametrize("name", first_quick(STUCK))
def test_an_engine_that_is_stuck_says_so_and_ends_and_resume_completes(
    console, home: Path, start: Start, name: str
) -> None:
    stick, code = STUCK[name]
    program = (
        f"{stick}\n"
        "import console.engine.stall_limit as limit\n"
        "limit.STUCK_S = 10.0\n"  # a process that merely gets no processor for a moment is not stuck
        "from console.engine.engine import Engine\n"
        "finish = Engine._finish\n"
        "def finish_or_stick(self, job, finished):\n"
        "    finish(self, job, finished)\n"
        "    if self.host.fold.tally.finished == 4: stick()\n"
        "Engine._finish = finish_or_stick\n"
    )
    data = write_suite(home / "data", 10)
    with OpenAIServer(right) as server:
        write_models(home, server)
        flags = ["-m", "m", "-s", "lookups", "--data", str(data), "-c", "1"]
        process = start([sys.executable, "-c", program + MAIN, "run", *flags])
        run = until(lambda: _run_with(home, 4))
        for number in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
        _, err = process.communicate(timeout=110)
        assert process.returncode in (code, 143)
        assert "`eval-console resume` continues" in err
        assert "Traceback" not in err
        asked = server.counts["chat"]
        assert console("resume", "--data", str(data)).code == 0
        assert server.counts["chat"] - asked <= 6
    assert len(results(run)) == 10


def _run_with(home: Path, finished: int) -> Path | None:
    """The run's folder, once so many of its cases are finished; its last line may be half written yet."""
    runs = [manifest.parent for manifest in (home / "runs").glob("*/run.json")]
    ended = [JournalReader(run / "journal.jsonl").read_new() for run in runs]
    return runs[0] if ended and sum(isinstance(record, Finished) for record in ended[0]) == finished else None


@pytest.mark.parametrize("room", first_quick([200, 160, 240]))
def test_an_engine_with_too_little_memory_ends_by_itself_and_resume_completes(
    console, home: Path, start: Start, room: int
) -> None:
    data = write_suite(home / "data", 40)
    with OpenAIServer(right) as server:
        write_models(home, server)
        flags = ["-m", "m", "-s", "lookups", "--data", str(data), "-c", "16"]
        program = (
            "import resource\n"
            "import console.engine.stall_limit as limit\n"
            "limit.STUCK_S = 5.0\n"
            f"resource.setrlimit(resource.RLIMIT_AS, ({room << 20}, {room << 20}))\n"
        )
        process = start([sys.executable, "-c", program + MAIN, "run", *flags])
        process.communicate(timeout=110)  # what it still manages to print depends on which allocation fails
        if (home / "runs").exists() and process.returncode != 0:
            resumed = console("resume", "--data", str(data))
            # memory may also run out once all cases have been played, while the report is made
            assert resumed.code == 0 or "nothing left to do" in resumed.err
            assert len(results(only_run(home / "runs"))) == 40
