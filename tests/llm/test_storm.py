"""A storm of 429 against the limiter alone, in virtual time: how many refusals it takes to learn a pace."""

import asyncio
import random
from collections.abc import Callable, Iterator

import pytest
from support.virtual_loop import VirtualLoop

from console.llm import limiter as limiter_module
from console.llm.limiter import Limiter


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
            limiter.throttled(slot, retry_after_s)
        finally:
            limiter.release(slot)


class Moody(Provider):
    """Refuses at random, however slowly it is asked."""

    def admits(self, now: float) -> bool:
        refused = random.random() < self.rate
        self.refused += refused
        return not refused


WAITS = pytest.mark.parametrize("retry_after_s", [None, 1.0, 0.1], ids=["no time", "1 s", "too short"])


def storm(loop: VirtualLoop, make: Callable[[], Provider], cases: int, wait_s: float | None) -> tuple[float, float]:
    """Return the refusals and the seconds that a run of so many cases costs, the mean of three."""
    refused, took = 0, 0.0
    for seed in range(3):
        random.seed(seed)
        provider, limiter, began = make(), Limiter("m"), loop.time()
        provider.at = began

        async def play(provider: Provider = provider, limiter: Limiter = limiter) -> None:
            room = asyncio.Semaphore(100)

            async def case() -> None:
                async with room:
                    await ask(loop, provider, limiter, wait_s)

            await asyncio.gather(*(case() for _ in range(cases)))

        loop.run_until_complete(play())
        refused, took = refused + provider.refused, took + loop.time() - began
    return refused / 3, took / 3


@WAITS
@pytest.mark.parametrize(
    ("rate", "latency_s"), [(5.0, 0.5), (10.0, 0.3), (10.0, 2.0), (30.0, 0.3), (100.0, 0.3), (30.0, 1.0)]
)
def test_a_storm_costs_few_refusals_and_little_time(
    loop: VirtualLoop, rate: float, latency_s: float, retry_after_s: float | None
) -> None:
    refused, took = storm(loop, lambda: Provider(rate, latency_s), 300, retry_after_s)
    assert 0 < refused <= 300 / 5, "at most a fifth as many refusals as cases"
    assert took <= 1.4 * ((300 - rate) / rate + latency_s)


@WAITS
@pytest.mark.parametrize(("at_once", "latency_s"), [(8, 0.5), (8, 5.0), (50, 1.0)])
def test_a_provider_that_allows_so_many_at_once_is_kept_busy(
    loop: VirtualLoop, at_once: int, latency_s: float, retry_after_s: float | None
) -> None:
    refused, took = storm(loop, lambda: Narrow(at_once, latency_s), 500, retry_after_s)
    assert 0 < refused <= 500 / 5
    assert took <= 1.8 * 500 / at_once * latency_s


def test_random_refusals_bring_no_standstill(loop: VirtualLoop) -> None:
    refused, took = storm(loop, lambda: Moody(0.1, 1.0), 300, 0.5)
    assert 20 < refused < 60
    assert took < 300, "not slower than one after the other"
