"""Tries over HTTP: what is asked again, how often, and what the watch hears of it."""

import asyncio
import time

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.config.model import Limits, ModelConfig
from console.core.fault import Fault, FaultKind
from console.llm.providers import open_endpoint


async def until(happened):
    """Wait for what another thread or the limiter does; there is no event to await."""
    for _ in range(10_000):
        if happened():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen")


async def test_a_passing_error_costs_two_more_tries(connect, question, seen, server):
    before = server.counts["chat"]
    reply = await connect({"max_tries": 5}).ask(question("fault:r500x2 first"), seen)
    assert reply.tries == 3
    assert reply.content == "You said: fault:r500x2 first"
    assert [fault.kind for fault, _ in seen.failed] == [FaultKind.SERVER] * 2
    assert all(wait is not None and wait <= 0.02 for _, wait in seen.failed)
    assert server.counts["chat"] - before == 3


TRIES = [("r500", 4, 4), ("s_nodone", 4, 4), ("cut_head", 3, 3), ("bad_json", 4, 2), ("r401", 4, 1), ("ctx", 4, 1)]


@pytest.mark.parametrize(("name", "allowed", "used"), TRIES)
async def test_each_kind_is_tried_as_often_as_is_sensible(connect, question, seen, server, name, allowed, used):
    before = server.counts["chat"]
    with pytest.raises(Fault):
        await connect({"max_tries": allowed}).ask(question(f"fault:{name}"), seen)
    assert server.counts["chat"] - before == used
    assert len(seen.failed) == used
    assert [wait is None for _, wait in seen.failed] == [False] * (used - 1) + [True]


async def test_a_server_that_never_answered_is_given_up_early_and_halts_a_run(connect, question, seen, server):
    before = server.counts["chat"]
    endpoint = connect({"max_tries": 9})
    for name, used in (("cut_head", 3), ("html200", 2)):
        with pytest.raises(Fault) as caught:
            await endpoint.ask(question(f"fault:{name}"), seen)
        assert caught.value.is_halting
        assert server.counts["chat"] - before == used
        before = server.counts["chat"]
    await endpoint.ask(question("hello"), seen)
    before = server.counts["chat"]
    with pytest.raises(Fault) as caught:
        await endpoint.ask(question("fault:cut_head"), seen)
    assert not caught.value.is_halting
    assert server.counts["chat"] - before == 10, "nine tries, the first of them sent again: its connection was kept"


async def test_a_rate_limit_is_waited_for_and_not_counted_as_a_try(connect, question, seen):
    began = time.monotonic()
    reply = await connect({"max_tries": 1}).ask(question("fault:r429_msx3"), seen)
    assert reply.tries == 4
    waited = 3 * 0.06
    assert waited < (took := time.monotonic() - began) < 30
    assert reply.latency_s <= took - waited, "waiting is not charged to the answer"
    assert [fault.retry_after_s for fault, _ in seen.failed] == [0.06] * 3
    assert "rate limited" in [why for why, _ in seen.waits]


async def test_a_rate_limit_without_a_time_is_waited_for_as_long_as_is_allowed(connect, question, seen):
    with pytest.raises(Fault, match="Rate limit"):
        async with asyncio.timeout(60):
            await connect({"max_wait_s": 0.05, "backoff_s": 0.01}).ask(question("fault:r429"), seen)
    assert "rate limited" in [why for why, _ in seen.waits]
    assert seen.failed[-1][1] is None, "the request is given up, not the run paused"


async def test_a_date_is_read_against_the_servers_own_clock(connect, question, seen):
    with pytest.raises(Fault) as caught:
        await connect({"max_wait_s": 0.5}).ask(question("fault:r429_date"), seen)
    assert caught.value.retry_after_s == pytest.approx(1.0, abs=0.1)


async def test_an_hour_is_not_waited_for(connect, question, seen):
    endpoint = connect({"max_wait_s": 600})
    with pytest.raises(Fault) as caught:
        await endpoint.ask(question("fault:r429_hourx1"), seen)
    assert caught.value.retry_after_s == pytest.approx(3600, abs=60)
    until = endpoint.states()[0].paused_until
    assert until == pytest.approx(time.time() + 3600, abs=60)
    with pytest.raises(Fault):
        await endpoint.ask(question("another"), seen)
    endpoint.retry_now()
    assert (await endpoint.ask(question("another"), seen)).content == "You said: another"


async def test_a_storm_loses_nothing_and_is_met_with_few_refusals(question, seen):
    cases, rate = 200, 200.0
    with OpenAIServer(limit_rps=rate) as server:
        model = ModelConfig(
            name="s", model_id="m", base_url=server.base_url, api_key_env="TEST_KEY", limits=Limits(backoff_s=0.05)
        )
        endpoint = open_endpoint(model)
        replies = await asyncio.gather(*(endpoint.ask(question(f"q{n}"), seen) for n in range(cases)))
        await endpoint.aclose()
    assert sorted(reply.content or "" for reply in replies) == sorted(f"You said: q{n}" for n in range(cases))
    assert endpoint.states()[0].throttled == server.counts["429"] <= cases / 2


async def test_a_provider_that_goes_down_and_comes_back_breaks_nothing(question, seen):
    down = False

    def answer(request):
        return Scripted("fine", fault="r529" if down else "")

    with OpenAIServer(answer) as server:
        limits = Limits(max_tries=2, backoff_s=0.01, max_outage_s=20)
        model = ModelConfig(name="s", model_id="m", base_url=server.base_url, api_key_env="TEST_KEY", limits=limits)
        endpoint = open_endpoint(model)
        assert (await endpoint.ask(question("proof"), seen)).content == "fine"
        down = True
        asking = [asyncio.ensure_future(endpoint.ask(question(f"q{n}"), seen)) for n in range(40)]
        await until(lambda: endpoint.states()[0].why == "the provider is down")
        down = False
        replies = await asyncio.gather(*asking, return_exceptions=True)
        await endpoint.aclose()
    broken = [reply for reply in replies if isinstance(reply, Fault)]
    assert all(fault.kind is FaultKind.SERVER for fault in broken)
    assert len(broken) < 21, "those that failed twice before the outage was known"
    assert sum(1 for reply in replies if not isinstance(reply, BaseException)) >= 19


async def test_a_provider_that_stays_away_longer_than_is_allowed_is_given_up(question, seen):
    down = False
    with OpenAIServer(lambda request: Scripted("fine", fault="r529" if down else "")) as server:
        limits = Limits(max_tries=2, backoff_s=0.01, max_outage_s=0.05)
        model = ModelConfig(name="s", model_id="m", base_url=server.base_url, api_key_env="TEST_KEY", limits=limits)
        endpoint = open_endpoint(model)
        await endpoint.ask(question("proof"), seen)
        down = True
        asking = [asyncio.ensure_future(endpoint.ask(question(f"q{n}"), seen)) for n in range(30)]
        async with asyncio.timeout(60):
            for ended in asyncio.as_completed(asking):
                with pytest.raises(Fault) as failed:
                    await ended
                if failed.value.is_of_endpoint:
                    break
        for waiting in asking:
            waiting.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await endpoint.aclose()
    assert "max_outage_s" in failed.value.hint


async def test_a_cancelled_question_frees_its_place(connect, question, seen, server):
    endpoint = connect({"concurrency": 1})
    asking = asyncio.ensure_future(endpoint.ask(question("fault:stall_head"), seen))
    await until(lambda: server.counts["stall_head"] > 0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await asyncio.wait_for(endpoint.ask(question("next"), seen), 60)).content == "You said: next"
    assert endpoint.states()[0].in_flight == 0
