"""The shared gate: everybody waits together, the number at once adapts, an outage is probed by one."""

import asyncio
import time

import pytest

from console.config.model import Limits
from console.core.fault import Fault, FaultKind
from console.core.live import slowed_words
from console.llm.balancer import Balancer
from console.llm.limits import limiter as limiter_module
from console.llm.limits.limiter import FAULTS_UNTIL_DOWN, Limiter, LimiterRegistry
from console.llm.retry import ask_until_answered


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is set; timers of the loop keep to the real one."""

    class Deadlines:
        now = 1000.0
        monotonic = staticmethod(lambda: Deadlines.now)
        time = staticmethod(lambda: Deadlines.now)

    monkeypatch.setattr(limiter_module, "time", Deadlines)
    return Deadlines


async def acquire(limiter, seen, **more):
    return await limiter.acquire(seen, max_wait_s=more.pop("max_wait_s", 60), **more)


async def test_only_so_many_are_let_in(seen):
    limiter = Limiter("x", ceiling=2)
    slots = [await acquire(limiter, seen) for _ in range(2)]
    third = asyncio.ensure_future(acquire(limiter, seen))
    await asyncio.sleep(0)
    assert not third.done()
    assert (limiter.state().in_flight, limiter.state().waiting) == (2, 1)
    limiter.release(slots[0])
    await third
    assert limiter.state().waiting == 0
    assert seen.waits == [("at the limit of requests at once", None), ("", None)]


async def test_a_rate_limit_delays_its_request_only(seen):
    limiter = Limiter("x", ceiling=8)
    slots = [await acquire(limiter, seen) for _ in range(8)]
    assert limiter.throttled(slots[3], 60) == 60
    for slot in slots:
        limiter.release(slot)
    await acquire(limiter, seen)
    assert seen.waits == []


async def test_several_rate_limits_in_a_row_pause_everybody_until_their_time(seen):
    limiter = Limiter("x", ceiling=8)
    slots = [await acquire(limiter, seen) for _ in range(8)]
    began, at = time.monotonic(), time.time()
    assert [limiter.throttled(slot, 0.1) for slot in slots[:3]] == [0.1, 0.1, 0]
    for slot in slots:
        limiter.release(slot)
    await asyncio.gather(*(acquire(limiter, seen) for _ in range(3)))
    assert 0.09 <= time.monotonic() - began < 30
    why, until = seen.waits[0]
    assert why == "rate limited"
    assert at <= until <= time.time() + 0.1


async def test_a_wait_too_long_for_one_request_pauses_everybody(seen):
    limiter = Limiter("x", ceiling=8)
    slot = await acquire(limiter, seen)
    assert limiter.throttled(slot, 3600, longest_alone_s=60) == 0
    assert limiter.pause_s == pytest.approx(3600, abs=60)


async def test_a_shorter_pause_does_not_end_a_longer_one(seen, clock):
    limiter = Limiter("x")
    limiter.pause(40.0)
    limiter.pause(5.0)
    assert limiter.pause_s == 40.0
    limiter.pause(50.0)
    assert limiter.pause_s == 50.0


async def refuse(limiter, seen, count):
    """Fill the gate, have so many refused, and give everything back."""
    slots = [await acquire(limiter, seen) for _ in range(limiter.state().limit)]
    for slot in slots[:count]:
        limiter.throttled(slot, 0.01)
        limiter.release(slot)
    for slot in slots[count:]:
        limiter.release(slot)


async def answer(limiter, seen):
    """Have one call more answered well."""
    slot = await acquire(limiter, seen)
    limiter.succeeded(slot)
    limiter.release(slot)


async def test_a_round_trip_lowers_the_number_once_and_good_answers_creep_up(seen):
    limiter = Limiter("x", ceiling=16)
    slots = [await acquire(limiter, seen) for _ in range(16)]
    for slot in (slots[2], slots[7]):
        limiter.throttled(slot, 0.01)
        limiter.release(slot)
    assert (limiter.state().limit, limiter.state().throttled) == (12, 2)
    for _ in range(8):
        limiter.succeeded(slots[0])
    assert limiter.state().limit == 13, "each good answer adds an eighth, near the number refused"


async def test_who_waits_because_of_rate_limits_is_told_so(seen):
    limiter = Limiter("x", ceiling=16)
    slots = [await acquire(limiter, seen) for _ in range(16)]
    limiter.throttled(slots[2], 60)
    for slot in slots[:5]:
        limiter.release(slot)
    waiting = [asyncio.ensure_future(acquire(limiter, seen)) for _ in range(5)]
    await asyncio.sleep(0)
    assert slowed_words([limiter.state()]) == "12/16 · slowed by 1 × 429"
    for slot in slots[5:]:
        limiter.release(slot)
    await asyncio.gather(*waiting)
    assert slowed_words([limiter.state()]) == ""


async def test_no_more_go_on_than_were_not_refused(seen):
    limiter = Limiter("x", ceiling=16)
    await refuse(limiter, seen, 13)
    assert limiter.state().limit == 3


async def test_refusals_that_fewer_calls_do_not_avoid_lower_nothing(seen, clock):
    limiter = Limiter("x", ceiling=16)
    await refuse(limiter, seen, 1)
    assert limiter.state().limit == 12
    for _ in range(12):
        for _ in range(4):
            await answer(limiter, seen)
        refused = await acquire(limiter, seen)
        assert limiter.throttled(refused, 1.0) == 1.0, "the request alone waits"
        limiter.release(refused)
        clock.now += 1
    assert limiter.state().limit >= 12
    assert limiter.state().paused_until is None


async def test_calls_start_at_the_pace_of_the_answers_between_two_rate_limits(seen, clock):
    limiter = Limiter("x", ceiling=8)
    await refuse(limiter, seen, 1)
    for _ in range(9):
        clock.now += 1
        await answer(limiter, seen)
    clock.now += 1
    await refuse(limiter, seen, 3)
    clock.now += 1
    limiter.release(await acquire(limiter, seen))
    clock.now += 0.5
    waiting = asyncio.ensure_future(acquire(limiter, seen))
    await asyncio.sleep(0)
    assert seen.waits[-1] == ("at the pace that the provider takes", None)
    clock.now += 0.5
    limiter.release(await asyncio.wait_for(waiting, 60))
    limiter.retry_now()
    seen.waits.clear()
    for _ in range(5):
        limiter.release(await acquire(limiter, seen))
    assert seen.waits == [], "who asks to go on now is not held to a pace"


async def test_pauses_and_random_refusals_slow_nobody_down(seen, clock):
    limiter = Limiter("x", ceiling=8)
    for wait in (1.0, 3600.0, 1.0, 5.0, 5.0):
        await answer(limiter, seen)
        slot = await acquire(limiter, seen)
        limiter.throttled(slot, wait)
        limiter.release(slot)
        clock.now += wait
    seen.waits.clear()
    for _ in range(2):
        limiter.release(await acquire(limiter, seen))
    assert seen.waits == []


async def test_without_a_rate_limit_the_number_doubles_with_every_round(seen):
    limiter = Limiter("x")
    start = limiter.state().limit
    slots = [await acquire(limiter, seen) for _ in range(start)]
    for slot in slots:
        limiter.succeeded(slot)
        limiter.release(slot)
        while limiter.state().in_flight < limiter.state().limit:
            await acquire(limiter, seen)
    assert limiter.state().limit == 2 * start
    idle = await acquire(Limiter("y"), seen)
    limiter = Limiter("z")
    limiter.succeeded(idle)
    assert limiter.state().limit == start, "what was not used is not enlarged"


async def test_a_wait_beyond_the_allowed_one_is_a_fault_for_all_that_wait(seen):
    limiter = Limiter("x", ceiling=1)
    slot = await acquire(limiter, seen)
    waiting = asyncio.ensure_future(acquire(limiter, seen))
    await asyncio.sleep(0)
    limiter.throttled(slot, 3600, longest_alone_s=60)
    for late in (waiting, acquire(limiter, seen)):
        with pytest.raises(Fault) as caught:
            await late
        assert caught.value.kind is FaultKind.RATE_LIMIT
        assert caught.value.retry_after_s == pytest.approx(3600, abs=60)
    limiter.release(slot)
    assert limiter.state().paused_until == pytest.approx(time.time() + 3600, abs=60)
    limiter.retry_now()
    await acquire(limiter, seen)


async def test_requests_per_minute_are_spread(seen):
    limiter = Limiter("x", rpm=1200)
    began = time.monotonic()
    for _ in range(4):
        limiter.release(await acquire(limiter, seen))
    assert 0.14 <= time.monotonic() - began < 30


async def test_after_three_faults_in_a_row_three_calls_at_once_are_risked_until_one_succeeds(seen):
    limiter = Limiter("x", ceiling=64)
    slot = await acquire(limiter, seen)
    for _ in range(2):
        limiter.faulted()
    assert limiter.state().limit > 3
    limiter.faulted()
    assert limiter.state().limit == 3
    limiter.succeeded(slot)
    assert limiter.state().limit > 3


async def test_a_provider_that_goes_down_is_probed_by_one_until_it_is_back(seen):
    limiter = Limiter("x", ceiling=64, backoff_s=0.02)
    slot = await acquire(limiter, seen)
    limiter.succeeded(slot)
    limiter.release(slot)
    slots = [await acquire(limiter, seen) for _ in range(FAULTS_UNTIL_DOWN + 5)]
    for place, slot in enumerate(slots, 1):
        limiter.faulted()
        limiter.release(slot)
        assert (limiter.down_since is not None) == (place >= FAULTS_UNTIL_DOWN)
    assert limiter.state().why == "the provider is down"
    entering = [asyncio.ensure_future(acquire(limiter, seen)) for _ in range(5)]
    probe = (await asyncio.wait(entering, return_when=asyncio.FIRST_COMPLETED))[0]
    assert len(probe) == 1
    limiter.succeeded(probe.pop().result())
    assert limiter.down_since is None
    limiter.retry_now()
    await asyncio.wait_for(asyncio.gather(*entering), 60)


async def test_an_address_that_never_answered_is_not_waited_for(seen):
    limiter = Limiter("x")
    for _ in range(FAULTS_UNTIL_DOWN + 5):
        limiter.faulted()
    assert limiter.down_since is None


async def test_a_cancelled_wait_leaves_no_hole(seen):
    limiter = Limiter("x", ceiling=1)
    slot = await acquire(limiter, seen)
    waiting = [asyncio.ensure_future(acquire(limiter, seen)) for _ in range(2)]
    await asyncio.sleep(0)
    limiter.release(slot)  # grants the first, which is cancelled before it runs
    waiting[0].cancel()
    await asyncio.wait_for(waiting[1], 60)
    assert limiter.state().in_flight == 1


async def test_the_same_address_and_key_share_one_gate():
    workspace = LimiterRegistry()
    first = workspace.limiter("a", "http://x", "k", ceiling=2, rpm=None, backoff_s=1)
    assert workspace.limiter("b", "http://x", "k", ceiling=5, rpm=60, backoff_s=1) is first
    assert first.state().limit == 5
    assert workspace.limiter("a", "http://x", "other", ceiling=2, rpm=None, backoff_s=1) is not first


async def test_a_timer_that_fires_a_moment_early_is_set_again(seen, clock, monkeypatch):
    """The loop may call a little before the time; a clock that moves on between two looks must not lose the waiter."""
    limiter = Limiter("x")
    limiter.pause(0.02)
    waiting = asyncio.ensure_future(acquire(limiter, seen))
    await asyncio.sleep(0)
    until = clock.now + limiter.pause_s
    looks = iter([until - 1e-9])
    monkeypatch.setattr(clock, "monotonic", staticmethod(lambda: next(looks, until + 1e-9)))
    async with asyncio.timeout(60):
        await waiting
    assert limiter.state().waiting == 0


@pytest.mark.parametrize("kind", [FaultKind.RATE_LIMIT, FaultKind.SERVER])
async def test_a_refusal_of_what_was_sent_before_retry_now_pauses_nobody(seen, kind):
    """It arrives late, and asks for an hour that somebody has ended."""
    balancer = Balancer([("", limiter := Limiter("x", ceiling=1))])
    tries, sent, refuse = [], asyncio.Event(), asyncio.Event()

    async def refuse_once(made):
        tries.append(made)
        if len(tries) == 1:
            sent.set()
            await refuse.wait()
            raise Fault(kind, "come back in an hour", retry_after_s=3600.0)
        return "answered"

    asking = asyncio.ensure_future(ask_until_answered(refuse_once, balancer, Limits(max_tries=1), seen))
    await asyncio.wait_for(sent.wait(), 60)
    limiter.retry_now()
    refuse.set()
    assert await asyncio.wait_for(asking, 60) == ("answered", 2)
    assert limiter.pause_s == 0


async def test_who_learns_of_a_pause_only_after_retry_now_does_not_pause_the_run(seen):
    balancer = Balancer([("", limiter := Limiter("x", ceiling=1))])
    slot = await acquire(limiter, seen)

    async def answer(made):
        return "answered"

    asking = asyncio.ensure_future(ask_until_answered(answer, balancer, Limits(max_wait_s=60), seen))
    await asyncio.sleep(0)
    limiter.pause(3600.0)
    limiter.retry_now()
    limiter.release(slot)
    assert await asyncio.wait_for(asking, 60) == ("answered", 1)
