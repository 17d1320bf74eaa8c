"""A storm of 429 against the limiter alone, in virtual time: how many refusals it takes to learn a pace."""

import asyncio
import random
import selectors
from collections.abc import Iterator
from typing import Any

import pytest

from console.llm import limiter as limiter_module
from console.llm.limiter import Limiter


class VirtualLoop(asyncio.SelectorEventLoop):
    """Waits for nothing: its clock goes on to whatever is due next."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return self.now


class _Skipping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        self._loop.now += timeout or 0.0
        return super().select(0)


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualLoop]:
    loop = VirtualLoop()

    class Clock:
        monotonic = staticmethod(loop.time)
        time = staticmethod(loop.time)

    monkeypatch.setattr(limiter_module, "time", Clock)
    yield loop
    loop.close()


class Silent:
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


async def ask(loop: VirtualLoop, provider: Provider, limiter: Limiter, retry_after_s: float | None) -> None:
    tries = 0
    while True:
        slot = await limiter.enter(Silent(), max_wait_s=600, again=tries > 0)  # type: ignore[arg-type]
        tries += 1
        try:
            if provider.admits(loop.time()):
                await asyncio.sleep(provider.latency_s * (0.9 + 0.2 * random.random()))
                limiter.succeeded(slot)
                return
            await asyncio.sleep(0.003)
            limiter.throttled(slot, retry_after_s)
        finally:
            limiter.leave(slot)


@pytest.mark.parametrize("retry_after_s", [None, 1.0], ids=["no time", "1 s"])
@pytest.mark.parametrize(("rate", "latency_s"), [(10.0, 0.3), (30.0, 0.3), (100.0, 0.3), (30.0, 1.0)])
def test_a_storm_costs_few_refusals_and_little_time(
    loop: VirtualLoop, rate: float, latency_s: float, retry_after_s: float | None
) -> None:
    cases, refused, took = 300, 0, 0.0
    for seed in range(3):
        random.seed(seed)
        provider, limiter, began = Provider(rate, latency_s), Limiter("m"), loop.time()
        provider.at = began

        async def play(provider: Provider = provider, limiter: Limiter = limiter) -> None:
            room = asyncio.Semaphore(100)

            async def case() -> None:
                async with room:
                    await ask(loop, provider, limiter, retry_after_s)

            await asyncio.gather(*(case() for _ in range(cases)))

        loop.run_until_complete(play())
        refused, took = refused + provider.refused, took + loop.time() - began
    least = (cases - rate) / rate + latency_s
    assert 0 < refused / 3 <= cases / 5, "at most a fifth as many refusals as cases"
    assert took / 3 <= 1.6 * least
