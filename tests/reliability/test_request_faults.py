"""Faults of one request and faults of an endpoint: who pays for them, and who is held."""

import asyncio
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reliability.conftest import COMMAND
from server.faults import FAULTS
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted
from support.live_engine import attach, state_with
from support.lookup_suite import number_of, only_run, records, results, right, until, write_models, write_suite

from console.core.live import Command, Status
from console.core.outcome import Outcome
from console.core.record import Tried

Start = Callable[..., "subprocess.Popen[str]"]
BAD = range(3, 36, 4)
SLOW = pytest.mark.slow


def is_bad(request: dict[str, Any]) -> bool:
    """One prompt in four, but none of the first, which prove the model, nor of the last."""
    return number_of(request) in BAD


@pytest.mark.parametrize(
    "fault", ["r500", *(pytest.param(name, marks=SLOW) for name in ("r529", "cut_head", "s_nodone"))]
)
async def test_prompts_that_always_fail_wait_beside_the_others(home: Path, start: Start, fault: str) -> None:
    """Their waits are minutes here, and the others are through long before."""

    def answer(request: dict[str, Any]) -> Scripted:
        return Scripted(fault=fault) if is_bad(request) else right(request, latency_s=0.02)

    data = write_suite(home / "data", 40)
    with OpenAIServer(answer) as server:
        models = write_models(home, server)
        models.write_text(models.read_text().replace("backoff_s = 0.01", "backoff_s = 1000, max_tries = 9"))
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", "4"])
        await asyncio.to_thread(until, lambda: server.counts["chat"] > 3)
        run = only_run(home / "runs")
        link = await attach(run)
        status = await state_with(link, lambda status: [it.state for it in status.activities] == ["waiting"] * len(BAD))
        assert all(endpoint.limit > 3 and not endpoint.why for endpoint in status.endpoints), "nothing is slowed"
        assert server.most_in_flight <= 4
        link.send(Command("kill"))
        await link.finish()
        await asyncio.to_thread(process.communicate, timeout=60)
    ended = results(run)
    assert sum(verdict.outcome is Outcome.PASSED for verdict, _, _ in ended.values()) == 40 - len(BAD)


def test_a_prompt_that_always_fails_ends_broken_after_its_tries(console, home: Path) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        return right(request, fault="r500" if is_bad(request) else "")

    data = write_suite(home / "data", 40)
    with OpenAIServer(answer) as server:
        write_models(home, server, "max_tries = 3")
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 4, "--json", "--quiet")
        asked = Counter(number_of(request) for request in server.requests)
    assert ended.data["summary"]["tally"]["passed"] == 40 - len(BAD)
    assert ended.data["summary"]["tally"]["broken"] == len(BAD)
    assert {count for number, count in asked.items() if number in BAD} == {3}
    assert {count for number, count in asked.items() if number not in BAD} == {1}


@pytest.mark.parametrize("concurrency", [4, pytest.param(20, marks=SLOW)])
def test_when_nothing_succeeds_any_more_three_calls_at_once_are_risked_and_none_is_lost(
    console, home: Path, concurrency: int
) -> None:
    """The calls in flight when it begins are answered first; from then on no more than three are at the server."""
    down = False
    most = fresh = refused = 0

    def answer(request: dict[str, Any]) -> Scripted:
        nonlocal down, most, fresh, refused
        fresh += 1
        down = fresh >= 60 and refused < 28
        refused += down
        if down and refused > concurrency + 2:
            most = max(most, server.in_flight + 1)
        return right(request, fault="r503_bare" if down else "", latency_s=0.02)

    def r503_bare(exchange: Exchange) -> None:
        exchange.error("503 Service Unavailable", "overloaded", "overloaded")

    data = write_suite(home / "data", 120)
    with pytest.MonkeyPatch.context() as patched, OpenAIServer(answer) as server:
        patched.setitem(FAULTS, "r503_bare", r503_bare)
        write_models(home, server, "max_tries = 5")
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", concurrency, "--json", "--quiet")
    assert refused == 28
    assert 1 <= most <= 3
    assert ended.data["summary"]["tally"]["passed"] == 120


def test_a_server_that_never_succeeds_stops_the_run_early(console, home: Path) -> None:
    with OpenAIServer(lambda request: Scripted(fault="r500", latency_s=0.01)) as server:
        write_models(home, server, "max_tries = 3")
        data = write_suite(home / "data", 100)
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 20, "--json", "--quiet")
        assert ended.code == 3
        assert ended.data["summary"]["state"] == "halted"
        assert server.counts["chat"] < 40
        assert server.most_in_flight <= 3
        assert len(results(Path(ended.data["folder"]))) < 10, "the others can be resumed"
        server.answer = right
        again = console("resume", "--data", data, "--json", "--quiet")
    assert again.data["summary"]["tally"]["passed"] > 90


def test_a_provider_that_stays_away_for_too_long_stops_the_run_and_breaks_few_cases(console, home: Path) -> None:
    asked = 0

    def answer(request: dict[str, Any]) -> Scripted:
        nonlocal asked
        asked += 1
        return right(request, fault="r529" if asked > 30 else "")

    with OpenAIServer(answer) as server:
        write_models(home, server, "max_outage_s = 0.2")
        data = write_suite(home / "data", 100)
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 8, "--json", "--quiet")
        assert ended.data["summary"]["state"] == "halted"
        assert "max_outage_s" in ended.data["summary"]["message"]
        outcomes = Counter(verdict.outcome for verdict, _, _ in results(Path(ended.data["folder"])).values())
        assert outcomes == {Outcome.PASSED: 30}, "what was not answered can be resumed"
        server.answer = right
        again = console("resume", "--data", data, "--json", "--quiet")
    assert again.data["summary"]["tally"]["passed"] == 100


def named(status: str, retry_after: str) -> Callable[[Exchange], None]:
    def refuse(exchange: Exchange) -> None:
        exchange.error(status, "try again later", retry_after=retry_after)

    return refuse


HOUR = {
    "h500": "500 Internal Server Error",
    "h502": "502 Bad Gateway",
    "h503": "503 Service Unavailable",
    "h504": "504 Gateway Timeout",
    "h529": "529 Overloaded",
    "h408": "408 Request Timeout",
    "h429": "429 Too Many Requests",
}


@pytest.mark.parametrize("fault", [pytest.param(name, marks=() if name == "h503" else SLOW) for name in HOUR])
async def test_whatever_the_status_an_hour_holds_the_endpoint_and_not_the_case(
    home: Path, start: Start, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Seen, and ended by `retry_now`."""
    monkeypatch.setitem(FAULTS, fault, named(HOUR[fault], "3600"))
    refusing = True

    def answer(request: dict[str, Any]) -> Scripted:
        return right(request, fault=fault if refusing and number_of(request) >= 3 else "")

    data = write_suite(home / "data", 8)
    with OpenAIServer(answer) as server:
        write_models(home, server, "max_wait_s = 6.0")
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", "2", "--json"])
        await asyncio.to_thread(until, lambda: server.counts[fault] > 0)
        run = only_run(home / "runs")
        link = await attach(run)
        status = await state_with(link, lambda status: "s more" in status.message)
        assert status.endpoints[0].paused_until is not None
        assert server.counts[fault] <= 3
        refusing = False
        link.send(Command("retry_now"))
        _, err = await asyncio.to_thread(process.communicate, timeout=60)
        link.close()
    assert process.returncode == 0, err
    assert {verdict.outcome for verdict, _, _ in results(run).values()} == {Outcome.PASSED}
    assert len(results(run)) == 8


async def test_one_prompt_that_asks_for_an_hour_again_and_again_holds_the_others_once(
    home: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAULTS, "h503", named(HOUR["h503"], "3600"))

    def answer(request: dict[str, Any]) -> Scripted:
        """Refuse one prompt, the second time so late that another one has been answered meanwhile."""
        if number_of(request) != 3:
            return right(request)
        return Scripted(fault="h503", latency_s=0.5 if server.counts["h503"] else 0.0)

    data = write_suite(home / "data", 12)
    with OpenAIServer(answer) as server:
        write_models(home, server, "max_wait_s = 0.2, max_tries = 3")
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", "2", "--json"])
        await asyncio.to_thread(until, lambda: server.counts["h503"] > 0)
        run = only_run(home / "runs")
        link = await attach(run)
        held = 0
        async with asyncio.timeout(60):
            async for frame in link.frames():
                if isinstance(frame, Status) and "s more" in frame.message:
                    held += 1
                    link.send(Command("retry_now"))
        await asyncio.to_thread(process.communicate, timeout=60)
    ended = results(run)
    assert len(ended) == 12
    assert [verdict.outcome for verdict, _, _ in ended.values()].count(Outcome.PASSED) == 11
    assert sum(isinstance(record, Tried) for record in records(run)) <= 5
    assert 1 <= held <= 6
