"""A storm of 429 in virtual time, against one process alone and several that share: what it takes to learn a pace."""

import asyncio
import random
from collections.abc import Callable, Iterator

import pytest
from support.quick_rows import first_quick
from support.virtual_keeper import Processes
from support.virtual_loop import VirtualLoop

from console.llm.limits import limiter as limiter_module
from console.llm.limits.limiter import Limiter


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualLoop]:
    loop = VirtualLoop()

    monkeypatch.setattr(limiter_module, "time", loop.clock)
    yield loop
    loop.close()


class Silent:
    def on_address(self, address: str) -> None:
        self.address = address

    def on_tokens(self, count: int) -> None:
        self.tokens = count

    def on_resent(self) -> None:
        return

    def on_wait(self, why: str, until: float | None) -> None:
        return


class Provider:
    """Allows so many requests a second, and as many again at the beginning."""

    def __init__(self, rate: float, latency_s: float) -> None:
        self.rate, self.latency_s = rate, latency_s
        self.tokens, self.at, self.refused = rate, 0.0, 0

    def admits(self, now: float) -> bool:
        self.tokens, self.at = min(self.rate, self.tokens + (now - self.at) * self.rate), now
        if self.tokens < 1:
            self.refused += 1
            return False
        self.tokens -= 1
        return True

    def done(self) -> None:
        return


class Narrow(Provider):
    """Allows so many requests at once."""

    def admits(self, now: float) -> bool:
        if self.tokens < 1:
            self.refused += 1
            return False
        self.tokens -= 1
        return True

    def done(self) -> None:
        self.tokens += 1


async def ask(loop: VirtualLoop, provider: Provider, limiter: Limiter, retry_after_s: float | None) -> None:
    tries = 0
    while True:
        slot = await limiter.acquire(Silent(), max_wait_s=600, is_retry=tries > 0)  # type: ignore[arg-type]
        tries += 1
        try:
            if provider.admits(loop.time()):
                await asyncio.sleep(provider.latency_s * (0.9 + 0.2 * random.random()))
                provider.done()
                limiter.succeeded(slot)
                return
            await asyncio.sleep(0.003)
            alone_s = limiter.throttled(slot, retry_after_s)
        finally:
            limiter.release(slot)
        await asyncio.sleep(alone_s)


class Moody(Provider):
    """Refuses at random, however slowly it is asked."""

    def admits(self, now: float) -> bool:
        refused = random.random() < self.rate
        self.refused += refused
        return not refused


SLOW = pytest.mark.slow
PROCESSES = pytest.mark.parametrize(
    "processes",
    [
        pytest.param(0, id="alone"),
        pytest.param(1, id="one that shares", marks=SLOW),
        pytest.param(4, id="four that share"),
    ],
)
WAITS = pytest.mark.parametrize(
    "retry_after_s",
    [pytest.param(None, id="no time"), pytest.param(1.0, id="1 s", marks=SLOW), pytest.param(0.1, id="too short")],
)


def storm(
    loop: VirtualLoop,
    make: Callable[[], Provider],
    cases: int,
    wait_s: float | None,
    processes: int,
    at_once: int = 100,
) -> tuple[float, float]:
    """Return the refusals and the seconds that a run of so many cases costs, the mean of three.

    Args:
        loop: in virtual time.
        make: makes the provider.
        cases: how many, of all processes together.
        wait_s: what a refusal asks to wait.
        processes: how many share what they learn; 0: one that knows of no others.
        at_once: conversations of all processes together.
    """
    refused, took = 0, 0.0
    for seed in range(3):
        random.seed(seed)
        provider, began = make(), loop.time()
        shared = Processes(loop, processes)
        limiters = shared.limiters or [Limiter("m")]
        provider.at = began

        async def play(
            provider: Provider = provider, shared: Processes = shared, limiters: list[Limiter] = limiters
        ) -> None:
            shared.connect()
            rooms = [asyncio.Semaphore(at_once // len(limiters)) for _ in limiters]

            async def case(place: int) -> None:
                async with rooms[place]:
                    await ask(loop, provider, limiters[place], wait_s)

            await asyncio.gather(*(case(number % len(limiters)) for number in range(cases)))
            shared.leave()

        loop.run_until_complete(play())
        refused, took = refused + provider.refused, took + loop.time() - began
    return refused / 3, took / 3


class Counting(Provider):
    """Allows so many requests at once, and knows the most that it has met."""

    def __init__(self, at_once: int, latency_s: float) -> None:
        super().__init__(at_once, latency_s)
        self.inside = self.most = 0

    def admits(self, now: float) -> bool:
        self.most = max(self.most, self.inside + 1)
        if self.inside >= self.rate:
            self.refused += 1
            return False
        self.inside += 1
        return True

    def done(self) -> None:
        self.inside -= 1


def last_of(processes: int) -> float:
    """How much longer it may take until the last of several processes is done, each of which has its own cases."""
    return 1.1 if processes > 1 else 1.0


@PROCESSES
@WAITS
@pytest.mark.parametrize(
    ("rate", "latency_s"),
    [
        pytest.param(5.0, 0.5, marks=SLOW),
        (10.0, 0.3),
        pytest.param(10.0, 2.0, marks=SLOW),
        (30.0, 0.3),
        (100.0, 0.3),
        pytest.param(30.0, 1.0, marks=SLOW),
    ],
)
def test_a_storm_costs_few_refusals_and_little_time(
    loop: VirtualLoop, rate: float, latency_s: float, retry_after_s: float | None, processes: int
) -> None:
    refused, took = storm(loop, lambda: Provider(rate, latency_s), 300, retry_after_s, processes)
    assert 0 < refused <= 300 / 3, "at most a third as many refusals as cases"
    assert took <= last_of(processes) * 1.45 * ((300 - rate) / rate + latency_s)


@PROCESSES
@WAITS
@pytest.mark.parametrize(("at_once", "latency_s"), first_quick([(8, 0.5), (8, 5.0), (50, 1.0)]))
def test_a_provider_that_allows_so_many_at_once_is_kept_busy(
    loop: VirtualLoop, at_once: int, latency_s: float, retry_after_s: float | None, processes: int
) -> None:
    refused, took = storm(loop, lambda: Narrow(at_once, latency_s), 500, retry_after_s, processes)
    assert 0 < refused <= 500 / 5
    assert took <= last_of(processes) * 1.8 * 500 / at_once * latency_s


@PROCESSES
def test_random_refusals_bring_no_standstill(loop: VirtualLoop, processes: int) -> None:
    refused, took = storm(loop, lambda: Moody(0.1, 1.0), 300, 0.5, processes)
    assert 20 < refused < 60
    assert took < 30, "ten times as fast as one after the other"


def test_two_reach_no_more_than_one_where_nothing_is_refused(loop: VirtualLoop) -> None:
    provider = Counting(1000, 1.0)
    refused, _ = storm(loop, lambda: provider, 1400, None, 2, at_once=500)
    assert refused == 0
    assert 32 < provider.most <= 256


def test_two_settle_where_one_would_at_a_provider_that_takes_few_at_once(loop: VirtualLoop) -> None:
    alone, together = Counting(8, 0.1), Counting(8, 0.1)
    refused_alone, _ = storm(loop, lambda: alone, 160, None, 1, at_once=40)
    refused, _ = storm(loop, lambda: together, 160, None, 2, at_once=40)
    assert together.most <= alone.most + 2
    assert 0 < refused <= 1.5 * refused_alone, "as many calls, and hardly more of them in vain"
