"""Caps hold however many calls are in flight, and costs are never made up."""

import asyncio

import msgspec
import pytest

from console.core.case import Key
from console.core.chat import ChatRequest, Reply, Usage
from console.core.record import Asked
from console.core.run import Budget, ModelFacts
from console.engine.budget import BudgetMeter, BudgetReached, cost_of, worst_case

PRICED = ModelFacts("m", price_in=1.0, price_out=10.0, price_cached=0.1, params={"max_tokens": 100_000})


def reply(usage: Usage | None, simulated: bool = False) -> Reply:
    return Reply("x", usage=usage, simulated=simulated)


def test_calls_in_flight_cannot_overshoot_together() -> None:
    meter = BudgetMeter(Budget(cost_usd=3.5))
    request = ChatRequest([{"role": "user", "content": "x"}])
    for n in range(3):
        assert meter.reserve(n, *worst_case(request, PRICED))
    assert not meter.reserve(3, *worst_case(request, PRICED)), "it fits once another call has ended"
    meter.release(0)
    meter.add_reply(reply(Usage(input=100, output=100)), PRICED)
    assert meter.reserve(3, *worst_case(request, PRICED))
    assert meter.cost_usd == pytest.approx(0.0011)
    meter.add_reply(reply(Usage(cost_usd=3.0)), PRICED)
    with pytest.raises(BudgetReached, match=r"\$3.00 spent of at most \$3.50, the next call may cost \$1.00"):
        meter.reserve(4, *worst_case(request, PRICED))


def test_a_cap_of_tokens_is_used_to_the_last_and_no_further() -> None:
    meter = BudgetMeter(Budget(tokens=100))
    meter.add_reply(reply(Usage(input=60, output=30)), PRICED)
    meter.check(tokens=10)
    with pytest.raises(BudgetReached, match="90 tokens used of at most 100, the next call may take 11"):
        meter.check(tokens=11)


async def test_a_call_that_may_fit_later_waits_for_those_in_flight() -> None:
    meter = BudgetMeter(Budget(tokens=150_000))
    request = ChatRequest([{"role": "user", "content": "x"}])
    assert meter.reserve(0, *worst_case(request, PRICED))
    assert not meter.reserve(1, *worst_case(request, PRICED))
    waiting = asyncio.ensure_future(meter.wait_for_release())
    await asyncio.sleep(0)
    assert not waiting.done()
    meter.release(0)
    await asyncio.wait_for(waiting, 60)
    assert meter.reserve(1, *worst_case(request, PRICED))


def test_a_reply_without_usage_counts_by_its_length() -> None:
    meter = BudgetMeter(Budget())
    words = [{"role": "user", "content": "x" * 3000}]
    asked = Asked(at=1.0, key=Key("a"), n=1, digest="d", reply=Reply("y" * 300), messages=words)
    meter.add_call(asked, PRICED)
    assert 1100 <= meter.tokens < 1150
    assert meter.cost_usd == pytest.approx((1000 + 100 * 10) / 1e6, rel=0.05)
    meter.add_call(msgspec.structs.replace(asked, prefix=1, messages=[{"role": "user", "content": "z" * 300}]), PRICED)
    assert 2300 <= meter.tokens < 2400, "the whole conversation is sent again"


def test_calls_that_use_a_cap_up_exactly_still_fit() -> None:
    meter = BudgetMeter(Budget(cost_usd=1.0, tokens=1000))
    meter.add_reply(reply(Usage(input=200, output=50, cost_usd=0.25)), PRICED)
    assert meter.reserve(0, 0.25, 250)
    assert meter.reserve(1, 0.5, 500)
    assert not meter.reserve(2, 0.0, 1)
    assert not meter.reserve(2, 0.25, 0)
    meter.release(0)
    meter.release(1)
    assert meter.reserve(2, 0.75, 750)


def test_tokens_and_errors_are_capped() -> None:
    meter = BudgetMeter(Budget(tokens=1000, errors=1))
    meter.add_reply(reply(Usage(input=990, output=20)), PRICED)
    with pytest.raises(BudgetReached, match="1010 tokens"):
        meter.check()
    meter = BudgetMeter(Budget(errors=1))
    meter.errors = 2
    with pytest.raises(BudgetReached, match="2 broken"):
        meter.check()


@pytest.mark.parametrize(
    ("usage", "facts", "cost"),
    [
        (None, PRICED, None),
        (None, ModelFacts("sim/broken", simulated=True), 0.0),
        (Usage(input=10, output=10), ModelFacts("m"), None),
        (Usage(input=1_000_000, output=100_000), PRICED, 2.0),
        (Usage(input=1_000_000, cached=500_000), PRICED, 0.55),
        (Usage(input=5, cost_usd=0.25), PRICED, 0.25),
    ],
)
def test_unknown_is_not_free(usage: Usage | None, facts: ModelFacts, cost: float | None) -> None:
    assert cost_of(reply(usage), facts) == (None if cost is None else pytest.approx(cost))


def test_simulated_answers_cost_nothing() -> None:
    assert cost_of(reply(None, simulated=True), PRICED) == 0.0


def test_what_a_conversation_has_sent_is_forgotten_when_it_ends() -> None:
    meter, key = BudgetMeter(Budget()), Key("a", 0, 1)
    messages = [{"role": "user", "content": "x" * 300}]
    asked = Asked(at=0.0, key=key, n=1, digest="d", reply=reply(None), messages=messages, prefix=1)
    meter.add_call(asked, PRICED)
    first = meter.tokens
    meter.add_call(asked, PRICED)
    second = meter.tokens - first
    assert second > 1.5 * first, "what was sent before is sent again with the prefix"
    meter.end_conversation(key)
    meter.add_call(asked, PRICED)
    assert meter.tokens - first - second == first
