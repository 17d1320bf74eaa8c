"""Caps on a whole run with fifty calls in flight: never overshot, said with their numbers, resumable with more."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import number_of, results, right, write_models, write_suite

CASES = 120


class Till:
    """A server that adds up what it would have charged."""

    def __init__(self) -> None:
        self.tokens = 0
        self.usage = True
        self.late = range(0)
        """Numbers that are answered after more than half of the time."""
        self.broken: set[int] = set()
        self.server = OpenAIServer(self.answer)

    def answer(self, request: dict[str, Any]) -> Scripted:
        if number_of(request) in self.broken:
            return Scripted(fault="r400")
        self.tokens += 360
        usage = {"prompt_tokens": 300, "completion_tokens": 60, "total_tokens": 360} if self.usage else None
        return right(request, latency_s=1.2 if number_of(request) in self.late else 0.01, usage=usage)


@pytest.fixture
def till() -> Iterator[Till]:
    till = Till()
    with till.server:
        yield till


@pytest.fixture
def run(console, home: Path, till: Till):
    """Play all cases, fifty at once, with some caps."""
    write_models(home, till.server, more="max_tokens = 100")
    data = write_suite(home / "data", CASES)

    def play(*flags: object):
        return console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 50, "--json", "--quiet", *flags)

    return play


def goes_on(console, home: Path, ended, till: Till, *flags: object) -> None:
    """Resume without a cap in the way: every case once, nothing asked twice."""
    before = results(Path(ended.data["folder"]))
    again = console("resume", ended.data["run"], "--data", home / "data", "--json", "--quiet", *flags)
    assert again.code == 0, again.err
    after = results(Path(ended.data["folder"]))
    assert again.data["summary"]["tally"]["passed"] == len(after) == CASES
    assert after | before == after
    assert till.server.counts["chat"] == CASES


def test_money(run, console, home: Path, till: Till) -> None:
    ended = run("--max-cost", 0.2)
    assert ended.code == 4
    spent = till.tokens / 100_000
    assert spent <= 0.2
    assert spent > 0.18, "the cap is used, not only kept"
    assert "of at most $0.20" in ended.data["summary"]["message"]
    assert ended.data["summary"]["state"] == "budget"
    goes_on(console, home, ended, till, "--max-cost", 20)


def test_tokens(run, console, home: Path, till: Till) -> None:
    ended = run("--max-tokens", 20_000)
    assert ended.code == 4
    assert 18_000 < till.tokens <= 20_000
    goes_on(console, home, ended, till, "--max-tokens", 2_000_000)


def test_money_without_usage_reports(run, console, home: Path, till: Till) -> None:
    """What a provider does not report is estimated, and the sum is shown as a lower bound."""
    till.usage = False
    ended = run("--max-cost", 0.2)
    assert ended.code == 4
    assert 10 <= till.server.counts["chat"] < CASES
    tally = ended.data["summary"]["tally"]
    assert tally["cost_unknown"] == tally["passed"]
    goes_on(console, home, ended, till, "--max-cost", 20)


def test_time(run, console, home: Path, till: Till) -> None:
    """Whoever is answered at the end of the time may finish; the run waits for no one else."""
    till.late = range(10, CASES)
    began = time.monotonic()
    ended = run("--max-time", "2")
    assert ended.code == 4
    assert time.monotonic() - began < 60
    assert "the time limit of 2 s is reached" in ended.data["summary"]["message"]
    assert 0 < len(results(Path(ended.data["folder"]))) < CASES
    till.late = range(0)
    goes_on(console, home, ended, till, "--max-time", "1h")


def test_time_spent_waiting_counts(console, home: Path, till: Till) -> None:
    """A run that is held for an hour by a provider stops when its time is over."""
    write_models(home, till.server, "max_wait_s = 1.0")
    till.answer = till.server.answer = lambda request: Scripted(fault="r429_hour")
    began = time.monotonic()
    given = ("-s", "lookups", "--data", write_suite(home / "data", 5), "--max-time", "4", "--json")
    ended = console("run", "-m", "m", *given)
    assert ended.code == 4, ended.err
    assert time.monotonic() - began < 60
    assert "the run waits 36" in ended.err
    assert results(Path(ended.data["folder"])) == {}


def test_errors(run, console, home: Path, till: Till) -> None:
    till.broken = set(range(5, CASES, 3))
    ended = run("--max-errors", 5)
    assert ended.code == 4
    tally = ended.data["summary"]["tally"]
    assert 5 < tally["broken"] <= 5 + 50
    assert tally.get("failed", 0) == 0, "a fault is never a score"
    assert "broken cases, at most 5 allowed" in ended.data["summary"]["message"]
    till.broken = set()
    again = console("resume", ended.data["run"], "--data", home / "data", "--json", "--quiet", "--max-errors", 500)
    assert again.code == 0
    assert again.data["summary"]["tally"]["passed"] == CASES


def test_time_is_over_though_a_call_is_silent(console, home: Path, till: Till, monkeypatch) -> None:
    """What was not answered then is asked again by a resume."""
    monkeypatch.setattr("console.engine.run_host._OVERTIME_S", 0.5)
    models = write_models(home, till.server)
    models.write_text(models.read_text().replace("timeout_s = 30,", "timeout_s = 300,"))
    till.server.answer = lambda request: Scripted(fault="stall_head") if number_of(request) else right(request)
    data = write_suite(home / "data", 4)
    began = time.monotonic()
    ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "--max-time", "3", "--json", "--quiet")
    assert ended.code == 4, ended.err
    assert time.monotonic() - began < 60
    assert "the time limit of 3 s is reached" in ended.data["summary"]["message"]
    till.server.answer = till.answer
    again = console("resume", ended.data["run"], "--data", data, "--json", "--quiet", "--max-time", "1h")
    assert again.data["summary"]["tally"]["passed"] == 4
