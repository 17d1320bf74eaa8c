"""A provider that is away for a while: the run waits, says so, and goes on by itself; nothing is scored wrong."""

import asyncio
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reliability.conftest import COMMAND
from server.openai_server import OpenAIServer, Scripted
from support.live_engine import attach, state_with
from support.lookup_suite import number_of, only_run, results, right, until, write_models, write_suite

from console.core.live import Command, Status
from console.core.outcome import Outcome
from console.core.record import Finished
from console.store.journal import JournalReader

Start = Callable[..., "subprocess.Popen[str]"]
CASES = 60


async def says(run: Path, word: str) -> Status:
    """Follow a live run until its state speaks of something, and return that state."""
    link = await attach(run)
    state = await state_with(link, lambda state: word in f"{state.message} {state.endpoints} {state.activities}")
    link.close()
    return state


def finished_so_far(run: Path) -> int:
    """Count the cases that have ended; the engine is writing meanwhile."""
    return sum(isinstance(record, Finished) for record in JournalReader(run / "journal.jsonl").read_new())


async def test_a_server_that_is_switched_off_and_on_again(home: Path, start: Start) -> None:
    def slowly(request: dict[str, Any]) -> Scripted:
        return right(request, latency_s=0.05)

    data = write_suite(home / "data", CASES)
    with OpenAIServer(slowly) as server:
        write_models(home, server, "max_tries = 6")
        flags = ["--data", str(data), "-c", "30", "--json"]
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", *flags])
        await asyncio.to_thread(until, lambda: server.counts["chat"] > 10)
        run = only_run(home / "runs")
    state = await says(run, "the provider is down")
    assert state.endpoints[0].why == "the provider is down"
    assert finished_so_far(run) < CASES
    with OpenAIServer(right, port=server.port):
        out, err = await asyncio.to_thread(process.communicate, timeout=110)
    assert process.returncode == 0, err + out
    ended = results(run)
    assert len(ended) == CASES
    assert {verdict.outcome for verdict, _, _ in ended.values()} == {Outcome.PASSED}


async def test_an_hour_of_rate_limit_holds_the_run_until_somebody_says_now(home: Path, start: Start) -> None:
    """Also over a stop and a resume: a held run is left at once, and goes on later."""
    refusing = True

    def answer(request: dict[str, Any]) -> Scripted:
        refused = refusing and number_of(request) >= 3
        return right(request, fault="r429_hour" if refused else "")

    data = write_suite(home / "data", 8)
    with OpenAIServer(answer) as server:
        write_models(home, server, "max_wait_s = 1.0")
        flags = ["--data", str(data), "-c", "1"]
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", *flags])
        run = await asyncio.to_thread(until, lambda: _held(home, server))
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(process.wait, 110) == 130
        assert time.monotonic() - began < 60, "nothing is in flight that could finish"
        assert len(results(run)) == 3

        process = start([*COMMAND, "resume", "--json", "--data", str(data)])
        status = await says(run, "asks to wait")
        assert "s more" in status.message
        refusing = False
        link = await attach(run)
        link.send(Command("retry_now"))
        _, err = await asyncio.to_thread(process.communicate, timeout=110)
        link.close()
    assert process.returncode == 0, err
    assert len(results(run)) == 8
    assert {verdict.outcome for verdict, _, _ in results(run).values()} == {Outcome.PASSED}
    assert server.counts["r429_hour"] <= 4, "a refusal is not asked for in a loop"


def _held(home: Path, server: OpenAIServer) -> Path | None:
    return only_run(home / "runs") if server.counts["r429_hour"] else None


@pytest.mark.parametrize(
    "fault",
    [
        "r429_quota",
        "r401",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("r402", "r404", "flagged403", "flagged401")),
    ],
)
def test_a_refusal_stops_a_run_after_three_calls_and_uses_no_case_up(console, home: Path, fault: str) -> None:
    with OpenAIServer(lambda request: Scripted(fault=fault)) as server:
        write_models(home, server)
        data = write_suite(home / "data", 30)
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 20, "--json", "--quiet")
        assert ended.code == 3
        assert server.counts["chat"] <= 3
        assert ended.data["summary"]["state"] == "halted"
        assert ended.data["summary"]["message"]
        assert results(Path(ended.data["folder"])) == {}
        server.answer = right
        again = console("resume", "--data", data, "--json", "--quiet")
    assert again.code == 0
    assert again.data["summary"]["tally"]["passed"] == 30
