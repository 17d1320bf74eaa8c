"""What a machine runs short of, or does to a program meanwhile: descriptors, memory, sleep, time zones, clocks."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reliability.conftest import COMMAND
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import number_of, only_run, records, results, right, until, write_models, write_suite
from support.quick_rows import first_quick

from console.core.outcome import Outcome
from console.core.record import CLOCK, Asked, Closed, Opened, Steered, Tried
from console.core.tally import RunFold
from console.engine import pause
from console.engine.pause import ProviderPause

ENDS_S = 110.0
"""Longer than any of this takes on a busy machine."""
Start = Callable[..., "subprocess.Popen[str]"]


def limited(limit: str, command: list[str]) -> list[str]:
    """Run it with one heap for all threads, since of a second one 64 MB are reserved, depending on where it lies."""
    return ["sh", "-c", f'ulimit {limit} && MALLOC_ARENA_MAX=1 exec "$@"', "sh", *command]


def outcomes(run: Path) -> list[Outcome]:
    return [verdict.outcome for verdict, _, _ in results(run).values()]


@pytest.mark.parametrize("limit", first_quick(["-n 24", "-n 32", "-v 120000"]))
def test_few_descriptors_and_little_memory(home: Path, start: Start, limit: str) -> None:
    """Sixty calls at once do not fit; those that do are played, and nothing is scored wrong."""
    data = write_suite(home / "data", 60)
    with OpenAIServer(lambda request: right(request, latency_s=0.05)) as server:
        write_models(home, server, "concurrency = 60")
        flags = ["--data", str(data), "-c", "60", "--json"]
        process = start(limited(limit, [*COMMAND, "run", "-m", "m", "-s", "lookups", *flags]))
        out, err = process.communicate(timeout=ENDS_S)
    print(limit, process.returncode, err[-3000:], out[:300])
    assert process.returncode == 0, err
    assert outcomes(only_run(home / "runs")) == [Outcome.PASSED] * 60


def test_no_more_threads(home: Path, start: Start) -> None:
    """The engine needs one beside its own, for all that waits for the disk; a second one is never asked for."""
    scarce = (
        "import sys, threading\nstart = threading.Thread.start\n"
        'def scarce(thread):\n    if threading.active_count() > 1: raise RuntimeError("can\'t start new thread")\n'
        "    start(thread)\nthreading.Thread.start = scarce\n"
        "from console.__main__ import main\nsys.exit(main(sys.argv[1:]))"
    )
    data = write_suite(home / "data", 20)
    with OpenAIServer(right) as server:
        write_models(home, server, "concurrency = 60")
        flags = ["--data", str(data), "-c", "60", "--json"]
        process = start([sys.executable, "-c", scarce, "run", "-m", "m", "-s", "lookups", *flags])
        _, err = process.communicate(timeout=ENDS_S)
    assert process.returncode == 0, err
    assert outcomes(only_run(home / "runs")) == [Outcome.PASSED] * 20


def test_answers_larger_than_memory_are_never_scores_and_the_run_goes_on(
    console: Any, home: Path, start: Start
) -> None:
    """Python itself may break then; whatever came of it, the run is whole, and what was asked in vain is asked anew."""
    data = write_suite(home / "data", 4)
    with OpenAIServer(lambda request: right(request, fault="big10mb"), keep=False) as server:
        write_models(home, server)
        flags = ["--data", str(data), "-c", "4", "--json"]
        process = start(limited("-v 120000", [*COMMAND, "run", "-m", "m", "-s", "lookups", *flags]))
        process.communicate(timeout=ENDS_S)
        assert process.returncode != 0
        run = only_run(home / "runs")
        read = [record for record in records(run) if isinstance(record, Asked) and record.reply is not None]
        assert {len(record.reply.content or "") for record in read if record.reply} <= {10_000_000}
        graded = [verdict for verdict, _, _ in results(run).values() if verdict.outcome is not Outcome.BROKEN]
        assert len(graded) <= len(read) < 4
        server.answer = right
        console("resume", run.name, "--data", data)
        assert console("retry", run.name, "--data", data, "--json", "--quiet").code in (0, 5)
    assert {verdict.outcome for verdict, _, _ in results(run).values()} <= {Outcome.PASSED, Outcome.FAILED}
    assert len(results(run)) == 4


def test_a_machine_that_sleeps_during_a_run(home: Path, start: Start) -> None:
    """Longer than every limit on a call: what was in flight is asked again, and nothing breaks."""
    data = write_suite(home / "data", 12)
    with OpenAIServer(lambda request: right(request, latency_s=0.3)) as server:
        write_models(home, server, "first_token_s = 0.8, idle_s = 0.8")
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", "6", "--json"])
        until(lambda: server.counts["chat"] >= 8)
        process.send_signal(signal.SIGSTOP)
        asyncio.run(_a_while(1.5))
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=ENDS_S)
    assert process.returncode == 0, err
    assert outcomes(only_run(home / "runs")) == [Outcome.PASSED] * 12


async def _a_while(seconds: float) -> None:
    """The one thing here that has to take time: sleeping longer than the limits allow."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:  # noqa: ASYNC110  nothing happens that could be awaited
        await asyncio.sleep(0.05)


def test_time_zones_change_nothing(home: Path, start: Start) -> None:
    data = write_suite(home / "data", 3)
    seen: list[Any] = []
    with OpenAIServer(right) as server:
        write_models(home, server)
        first = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "--data", str(data), "--json"], TZ="Asia/Tokyo")
        out, err = first.communicate(timeout=ENDS_S)
    assert first.returncode == 0, err
    name = json.loads(out)["run"]
    stamp = time.strftime("%Y-%m-%dT%H", time.gmtime())
    assert name[:13] >= time.strftime("%Y-%m-%dT%H", time.gmtime(time.time() - 60)) <= stamp, "names are UTC"
    for zone in ("Pacific/Kiritimati", "America/St_Johns"):
        shown = start([*COMMAND, "show", name, "--json"], TZ=zone)
        seen.append(json.loads(shown.communicate(timeout=ENDS_S)[0])["summary"])
    assert seen[0] == seen[1]
    assert 0 <= seen[0]["seconds"] < 60


async def test_a_provider_pause_believes_whichever_clock_says_that_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock may be set back or forth; the monotonic one stands still while the machine sleeps."""
    real, jump = time.time, [0.0]

    class JumpingClock:
        monotonic = staticmethod(time.monotonic)

        @staticmethod
        def time() -> float:
            return real() + jump[0]

    monkeypatch.setattr(pause, "time", JumpingClock)
    monkeypatch.setattr(pause, "CLOCK_CHECK_S", 0.01)
    ended: list[bool] = []
    provider_pause = ProviderPause(lambda: ended.append(True))
    provider_pause.extend(0.1)
    jump[0] = -86_400.0
    await asyncio.wait_for(provider_pause.wait(), 60)
    provider_pause.extend(3600.0)
    waiting = asyncio.ensure_future(provider_pause.wait())
    await asyncio.sleep(0)
    assert 3590 < provider_pause.left_s <= 3600
    jump[0] = 0.0
    await asyncio.wait_for(waiting, 60)
    assert ended == [True, True]


def test_neither_a_clock_set_back_nor_a_night_between_sessions_counts_as_time() -> None:
    fold, day = RunFold(), 86_400.0
    fold.apply(Opened(at=day, pid=1))
    fold.apply(Steered(at=day + 10, what="pause"))
    fold.apply(Steered(at=day + 10 - 3600, what="resume"))
    fold.apply(Closed(at=day + 15 - 3600, reason="stopped"))
    fold.apply(Opened(at=2 * day, pid=2))
    fold.apply(Closed(at=2 * day + 7, reason="completed"))
    assert fold.seconds == 10 + 5 + 7


@pytest.mark.parametrize("jump_s", [86_400.0, -86_400.0])
def test_a_clock_that_is_set_in_mid_run_is_noted_and_lengthens_nothing(
    console, home: Path, monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    real, jump = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + jump[0])

    def answer(request: dict[str, Any]) -> Scripted:
        jump[0] = jump_s if number_of(request) >= 2 else 0.0
        return right(request)

    data = write_suite(home / "data", 4)
    with OpenAIServer(answer) as server:
        write_models(home, server)
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 1, "--json", "--quiet")
    assert ended.code == 0
    journaled = records(only_run(home / "runs"))
    noted = [float(record.value) for record in journaled if isinstance(record, Steered) and record.what == CLOCK]
    assert noted == [pytest.approx(jump_s, abs=60)]
    assert abs(journaled[-1].at - journaled[0].at) > 80_000, "what is written is the clock's own time"
    assert ended.data["summary"]["seconds"] < 600


def test_another_model_that_answers_is_recorded_for_every_call(console, home: Path) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        said = right(request)
        said.model = "cheaper-model" if "number=1" in (said.content or "") else "test-model"
        return said

    data = write_suite(home / "data", 3)
    with OpenAIServer(answer) as server:
        write_models(home, server)
        assert console("run", "-m", "m", "-s", "lookups", "--data", data, "--quiet").code == 0
    run = only_run(home / "runs")
    asked = {record.key.case: record.reply.model for record in records(run) if isinstance(record, Asked)}
    assert asked == {f"simple_python_{n}": "cheaper-model" if n == 1 else "test-model" for n in range(3)}
    assert "cheaper-model" in console("show", f"{run.name}#simple_python_1").out
    assert "cheaper-model" not in console("show", f"{run.name}#simple_python_0").out


def test_a_try_that_failed_keeps_what_had_arrived(console, home: Path) -> None:
    data = write_suite(home / "data", 2)
    with OpenAIServer(lambda request: right(request, fault="s_cut")) as server:
        write_models(home, server, "max_tries = 2")
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "--json", "--quiet")
    assert ended.code == 3
    run = only_run(home / "runs")
    assert set(outcomes(run)) <= {Outcome.BROKEN}
    tried = [record for record in records(run) if isinstance(record, Tried)]
    assert {record.partial for record in tried} == {"The weather is fine"}
