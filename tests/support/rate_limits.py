"""Providers that refuse requests, and runs against them in virtual time.

Limiter, retries, keeper and the line for slots are the real ones; provider and clock are made up, nothing sleeps, and a
seed gives the same figures everywhere.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

from support.virtual_keeper import Processes
from support.virtual_loop import VirtualLoop

from console.config.model import Limits
from console.core.fault import Fault, FaultKind
from console.engine.circuit_breaker import UNPROVEN_CALLS
from console.engine.retry_line import RetryLine
from console.llm import retry as retry_module
from console.llm.balancer import Balancer
from console.llm.endpoint import Watch
from console.llm.limits import limiter as limiter_module
from console.llm.limits.limiter import Limiter
from console.llm.retry import Try, ask_until_answered

LIMITS = Limits()
MINUTE_S = 60.0


@dataclass
class Provider:
    """Answers after a while, or refuses; what it refuses is up to its kind. This one refuses nothing."""

    latency_s: float = 1.6
    retry_after_s: float | None = 1.0
    refusal_s: float = 0.02
    """What a refusal takes."""
    inside: int = 0
    """Requests being answered."""
    answered: int = 0
    refused: int = 0

    def refuses(self, elapsed_s: float) -> bool:
        """Whether a request that comes so long after the first is refused."""
        del elapsed_s
        return False

    def wait_s(self, elapsed_s: float) -> float | None:
        """The `Retry-After` of a refusal at this time."""
        del elapsed_s
        return self.retry_after_s

    def best_s(self, entries: int, at_once: int) -> float:
        """The time of a client that knows the rule."""
        return entries * self.latency_s / at_once

    async def answer(self, elapsed_s: float) -> None:
        """Answer a request.

        Raises:
            Fault: it is refused.
        """
        if self.refuses(elapsed_s):
            self.refused += 1
            await asyncio.sleep(self.refusal_s)
            raise Fault(FaultKind.RATE_LIMIT, "too many requests", status=429, retry_after_s=self.wait_s(elapsed_s))
        self.inside += 1
        try:
            await asyncio.sleep(self.latency_s * (0.9 + 0.2 * random.random()))
            self.answered += 1
        finally:
            self.inside -= 1


@dataclass
class Capped(Provider):
    """Takes so many at once; with `other` the cap changes between the two every so many seconds."""

    cap: int = 8
    other: int = 0
    change_s: float = 20.0

    def cap_at(self, elapsed_s: float) -> int:
        """How many it takes at once at this time."""
        return self.other if self.other and elapsed_s // self.change_s % 2 else self.cap

    def refuses(self, elapsed_s: float) -> bool:
        return self.inside >= self.cap_at(elapsed_s)

    def best_s(self, entries: int, at_once: int) -> float:
        done, elapsed_s = 0.0, 0.0
        while done < entries:
            done += min(at_once, self.cap_at(elapsed_s)) / self.latency_s / 10
            elapsed_s += 0.1
        return elapsed_s


@dataclass
class PerMinute(Provider):
    """Takes so many in a minute, and names the time to the next one."""

    count: int = 60
    window: int = -1
    taken: int = 0

    def refuses(self, elapsed_s: float) -> bool:
        if elapsed_s // MINUTE_S != self.window:
            self.window, self.taken = int(elapsed_s // MINUTE_S), 0
        self.taken += 1
        return self.taken > self.count

    def wait_s(self, elapsed_s: float) -> float | None:
        return MINUTE_S - elapsed_s % MINUTE_S if self.retry_after_s is not None else None

    def best_s(self, entries: int, at_once: int) -> float:
        full, rest = divmod(entries - 1, self.count)
        quick_s = super().best_s(self.count, at_once)
        if quick_s >= MINUTE_S:
            return super().best_s(entries, at_once)
        return full * MINUTE_S + super().best_s(rest + 1, at_once)


@dataclass
class PerSecond(Provider):
    """Takes so many in a second, and as many more after a rest: a bucket of tokens."""

    rate: float = 10.0
    tokens: float = 0.0
    at: float = -1.0

    def refuses(self, elapsed_s: float) -> bool:
        self.tokens, self.at = min(self.rate, self.tokens + (elapsed_s - self.at) * self.rate), elapsed_s
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False

    def best_s(self, entries: int, at_once: int) -> float:
        return max((entries - self.rate) / self.rate + self.latency_s, super().best_s(entries, at_once))


@dataclass
class Moody(Provider):
    """Refuses this share at random, whatever the load."""

    share: float = 0.1

    def refuses(self, elapsed_s: float) -> bool:
        del elapsed_s
        return random.random() < self.share

    def best_s(self, entries: int, at_once: int) -> float:
        refusals_s = self.share / (1 - self.share) * self.refusal_s
        return entries * (self.latency_s + refusals_s) / at_once


class Played(NamedTuple):
    """What a run took."""

    took_s: float
    refused: int
    provider: Provider
    limiters: list[Limiter]


class _SlotWatch(Watch):
    """Waits for retries without a slot, as the engine does."""

    def __init__(self, line: RetryLine, limiter: Limiter) -> None:
        self._line, self._limiter = line, limiter

    async def wait_to_retry(self, wait_s: float) -> None:
        await self._line.wait(wait_s, lambda: None, keeps_slot=not self._limiter.is_proven)


async def _play_one(ask: Callable[[Watch], Awaitable[object]], limiter: Limiter, entries: int, at_once: int) -> None:
    """Play entries as an engine does: slots, the line for them, three calls before the first answer."""
    changed = asyncio.Event()
    line, running, left = RetryLine(changed.set), set["asyncio.Task[None]"](), entries

    async def entry() -> None:
        await ask(_SlotWatch(line, limiter))

    def end(task: "asyncio.Task[None]") -> None:
        task.result()
        running.discard(task)
        changed.set()

    while left or running:
        changed.clear()
        while len(running) - len(line) < (at_once if limiter.is_proven else min(at_once, UNPROVEN_CALLS)):
            if line.is_next:
                line.release_next()
            elif left and line.has_room:
                left -= 1
                task = asyncio.create_task(entry())
                running.add(task)
                task.add_done_callback(end)
            else:
                break
        await changed.wait()


def play(provider: Provider, *, entries: int = 400, at_once: int = 16, processes: int = 0, seed: int = 0) -> Played:
    """Play a run in virtual time.

    Args:
        provider: asked by all.
        entries: requests of all processes together.
        at_once: conversations of all processes together.
        processes: processes that share a keeper; 0 for one that knows of no others.
        seed: of everything random.
    """
    loop = VirtualLoop()
    random.seed(seed)
    limiter_module.time = retry_module.time = loop.clock
    shared = Processes(loop, processes)
    limiters = shared.limiters or [Limiter("m")]
    began = loop.time()

    async def once(this_try: Try) -> None:
        del this_try
        await provider.answer(loop.time() - began)

    async def run() -> None:
        shared.connect()
        count = len(limiters)
        async with asyncio.TaskGroup() as group:
            for limiter in limiters:

                def ask(watch: Watch, limiter: Limiter = limiter) -> Awaitable[object]:
                    return ask_until_answered(once, Balancer([("", limiter)]), LIMITS, watch)

                group.create_task(_play_one(ask, limiter, entries // count, at_once // count))
        shared.leave()

    try:
        loop.run_until_complete(run())
        return Played(loop.time() - began, provider.refused, provider, limiters)
    finally:
        limiter_module.time = retry_module.time = time
        loop.close()
