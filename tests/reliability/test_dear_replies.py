"""Caps on money where nothing limits a reply: what is learned from replies, and what a cut-off call may have cost."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reliability.conftest import COMMAND
from server.http1 import Connection
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import only_run, records, results, right, until, write_models, write_suite

from console.core.case import Key
from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind
from console.core.price import Price
from console.core.record import Finished, Tried
from console.core.run import Budget, ModelFacts
from console.engine.budget import BudgetMeter, worst_case

CASES = 120
AT_ONCE = 50


class Till:
    """A server that adds up what its replies cost, in the order in which they were asked."""

    def __init__(self, usage_of: Callable[[int], dict[str, Any]]) -> None:
        self.usage_of = usage_of
        self.count, self.spent, self.dearest = 0, 0.0, 0.0
        self.latency_s, self.fault = 0.02, "s_cut"
        self.is_cut: Callable[[int], bool] = lambda number: False
        self.server = OpenAIServer(self.answer)

    def answer(self, request: dict[str, Any]) -> Scripted:
        self.count += 1
        usage = self.usage_of(self.count)
        usd = usage.get("cost", (usage["prompt_tokens"] + usage["completion_tokens"]) / 1e5)
        self.spent, self.dearest = self.spent + usd, max(self.dearest, usd)
        if self.is_cut(self.count):
            return Scripted(fault=self.fault)
        return right(request, usage=usage, latency_s=self.latency_s)


def tokens(output: int) -> dict[str, Any]:
    return {"prompt_tokens": 300, "completion_tokens": output}


WORLDS: dict[str, tuple[Callable[[int], dict[str, Any]], float, int]] = {
    "long replies": (lambda _: tokens(30_000), 3.0, 0),
    "costs reported by the provider": (lambda _: tokens(10) | {"cost": 1.0}, 5.0, 0),
    "dear replies after cheap ones": (lambda number: tokens(10 if number <= 30 else 100_000), 2.0, 7),
}
"""Usage of each reply, the cap, and how many replies may exceed it together."""


@pytest.fixture
def run(console, home: Path):
    """Play all cases on a till, fifty at once, with a cap."""
    data = write_suite(home / "data", CASES)

    def play(till: Till, cap: float, limits: str = "", more: str = ""):
        write_models(home, till.server, limits, more)
        given = ("--data", data, "-c", AT_ONCE, "--json", "--yes", "--max-cost", cap)
        return console("run", "-m", "m", "-s", "lookups", *given)

    return play


@pytest.mark.parametrize("world", WORLDS)
def test_a_cap_holds_for_replies_that_nothing_limits(run, world: str) -> None:
    usage_of, cap, most = WORLDS[world]
    till = Till(usage_of)
    with till.server:
        ended = run(till, cap)
    assert ended.code == 4, ended.err
    assert till.spent <= cap + most * till.dearest
    assert f"the cap can be exceeded by up to {AT_ONCE} replies of m, as no max_tokens limits them" in ended.err


def test_a_server_that_ignores_max_tokens_is_found_out(run) -> None:
    till = Till(lambda _: tokens(30_000))
    with till.server:
        ended = run(till, 2.0, more="max_tokens = 100")
    assert ended.code == 4, ended.err
    assert till.spent <= 2.0
    assert "the cap is kept as long as m keeps to max_tokens and its price" in ended.err


def test_replies_that_break_off_count_as_charged(run) -> None:
    """They are asked again and again, and the provider may charge each time."""
    till = Till(lambda _: tokens(1_000))
    till.is_cut = lambda number: number > 10
    with till.server:
        ended = run(till, 1.0, "max_tries = 50", "max_tokens = 1000")
    assert ended.code == 4, ended.err
    assert till.spent <= 1.0
    assert "on calls that were cut off, of at most $1.00" in ended.data["summary"]["message"]


def test_calls_in_flight_at_a_kill_count_as_charged(console, home: Path, start) -> None:
    """Nobody knows what they cost: each resume counts them as the dearest so far."""
    till = Till(lambda _: tokens(1_000))
    data = write_suite(home / "data", CASES)
    with till.server:
        write_models(home, till.server, more="max_tokens = 1000")
        given = ["--data", str(data), "--json", "--quiet", "--yes"]
        process = start([*COMMAND, "run", "-m", "m", "-s", "lookups", "-c", "8", "--max-cost", "1.0", *given])
        run = until(lambda: next((path.parent for path in (home / "runs").glob("*/run.json")), None))
        until(lambda: (run / "journal.jsonl").exists() and len(results(run)) > 3)
        till.latency_s = 30.0
        asked = till.count
        until(lambda: till.count >= asked + 8)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        till.latency_s = 0.0
        ended = console("resume", only_run(home / "runs").name, "--data", data, "--json", "--quiet")
    assert ended.code == 4, ended.err
    assert till.spent <= 1.0
    assert "on calls that were cut off, of at most $1.00" in ended.data["summary"]["message"]


@pytest.mark.parametrize("fault", ["s_cut", "cut_head", "a kept connection is closed"])
def test_what_may_have_been_charged_makes_costs_lower_bounds(console, home: Path, monkeypatch, fault: str) -> None:
    """Of the run and of the rollout; a refusal before and after it does not."""
    till = Till(lambda _: tokens(1_000))
    if fault == "a kept connection is closed":
        monkeypatch.setattr(Connection, "most_requests", 1)
    else:
        till.is_cut = lambda number: number == 2
        till.fault = fault
    data = write_suite(home / "data", 4)
    with till.server:
        write_models(home, till.server)
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 1, "--json", "--yes")
    assert ended.code == 0, ended.err
    run = only_run(home / "runs")
    costs = [record.cost_usd for record in records(run) if isinstance(record, Finished)]
    assert None in costs
    assert any(costs), "one rollout had neither"
    shown = console("show", run.name)
    assert " or more (price or usage of " in shown.out


def test_a_request_that_is_cut_counts_in_a_resumed_run_as_it_was_reserved() -> None:
    """Its prompt may have cost more than the reply, and no reply tells."""
    facts = ModelFacts("m", price=Price(10.0, 10.0), params={"max_tokens": 10})
    meter, key = BudgetMeter(Budget(cost_usd=9.0)), Key("a", 0, 1)
    call = worst_case(ChatRequest([{"role": "user", "content": "x" * 300_000}]), facts)
    assert meter.reserve((key, 1), *call)
    record = meter.with_cut_cost(Tried(1.0, key, 1, "connect", "closed", charges=2))
    again = BudgetMeter(Budget(cost_usd=9.0))
    again.add_try(record, facts)
    assert again.cut_usd == pytest.approx(2 * call.usd)


def test_the_possible_charges_of_a_try() -> None:
    assert Tried(1.0, Key("a"), 1, "stalled", "of an earlier version").possible_charges == 1
    assert Tried(1.0, Key("a"), 1, "connect", "refused").possible_charges == 0
    assert Fault(FaultKind.SERVER, "the gateway gave up", status=504).may_be_charged
    assert not Fault(FaultKind.SERVER, "down", status=503).may_be_charged


def test_a_call_to_be_sent_again_does_not_wait_for_calls_that_wait_for_its_money(console, home: Path) -> None:
    """It would hold its reservation without a slot, and others a slot without a reservation, without end."""
    till = Till(lambda _: tokens(100))
    till.is_cut = lambda number: number == 1
    data = write_suite(home / "data", 12)
    with till.server:
        write_models(home, till.server, "max_wait_s = 5", "max_tokens = 1000")
        models = home / "models.toml"
        models.write_text(models.read_text().replace("backoff_s = 0.01", "backoff_s = 1.0"))
        given = ("--data", data, "-c", 2, "--json", "--quiet", "--yes", "--max-cost", 0.04, "--max-time", 20)
        ended = console("run", "-m", "m", "-s", "lookups", *given)
    assert ended.code == 4, ended.err
    assert "of at most $0.040" in ended.data["summary"]["message"]
    assert till.spent <= 0.04
