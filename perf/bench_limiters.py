"""What faults cost the requests that are fine, in virtual time: the rule of today beside plain AIMD, as it was before.

    python perf/bench_limiters.py [--entries 400] [--concurrency 8] [--latency-ms 50] [--seeds 5]

Limiter, retries and the line for slots are the real ones; provider and clock are made up, nothing sleeps, and a seed
gives the same figures everywhere. Plain AIMD counts every fault against the endpoint, and who waits for a retry keeps
its slot. Ways to fail and bounds are those of bench_pacing.py, which plays whole runs over real connections.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, seed
from statistics import mean

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.virtual_loop import VirtualLoop  # noqa: E402

from console.config.model import Limits  # noqa: E402
from console.core.fault import Fault, FaultKind  # noqa: E402
from console.engine.circuit_breaker import UNPROVEN_CALLS  # noqa: E402
from console.engine.retry_line import RetryLine  # noqa: E402
from console.llm import retry as retry_module  # noqa: E402
from console.llm.balancer import Balancer  # noqa: E402
from console.llm.endpoint import Watch  # noqa: E402
from console.llm.limits import limiter as limiter_module  # noqa: E402
from console.llm.limits.limiter import Limiter  # noqa: E402
from console.llm.retry import Try, ask_until_answered  # noqa: E402

NAMES = ("poisoned", "slow", "random", "failing", "outage")
BOUNDS = {"poisoned": 1.3, "random": 1.25}
AT_ONCE = 3
OUTAGE_S = 5.0
LIMITS = Limits()

Ask = Callable[["Provider", Limiter, RetryLine, int], Awaitable[None]]


@dataclass
class Provider:
    """Answers after a while, or fails in one of the ways."""

    name: str
    entries: int
    latency_s: float
    random: Random
    clock: Callable[[], float]
    calls: int = 0
    in_flight: int = 0
    most: int = 0
    """Calls at once while nothing succeeds."""
    sent_fine: int = 0
    down_at: float = 0.0
    bad: set[int] = field(default_factory=set[int])

    async def answer(self, number: int) -> None:
        """Answer one try.

        Raises:
            Fault: it fails.
        """
        self.calls += 1
        self.in_flight += 1
        try:
            fails, takes_time = self._fails(number)
            if takes_time:
                await asyncio.sleep(self.latency_s * (0.9 + 0.2 * self.random.random()))
            if fails:
                raise Fault(FaultKind.SERVER, "boom", status=500)
        finally:
            self.in_flight -= 1

    def _fails(self, number: int) -> tuple[bool, bool]:
        """Return whether a try fails, and whether that takes the usual time."""
        if self.name in ("poisoned", "slow") and number in self.bad:
            return True, self.name == "slow"
        if self.name == "random" and self.random.random() < 0.1:
            return True, False
        if self.name == "failing":
            self.most = max(self.most, self.in_flight)
            return True, True
        if self.name == "outage" and self.sent_fine >= self.entries // 2:
            self.down_at = self.down_at or self.clock()
            lasted = self.clock() - self.down_at
            if 3 * self.latency_s < lasted < OUTAGE_S:
                self.most = max(self.most, self.in_flight)
            if lasted < OUTAGE_S:
                return True, True
        self.sent_fine += 1
        return False, True


class PlainLimiter(Limiter):
    """AIMD as it was: knows no doubt, only rate limits and an outage after twenty faults in a row."""

    @property
    def is_suspect(self) -> bool:
        return False


async def ask_plainly(provider: Provider, limiter: Limiter, line: RetryLine, number: int) -> None:
    """Try as it was: every fault counts against the endpoint, and the slot is kept."""
    del line
    charged, watch = 0, Watch()
    while True:
        slot = await limiter.acquire(watch, max_wait_s=LIMITS.max_wait_s, is_retry=charged > 0)
        try:
            await provider.answer(number)
            limiter.succeeded(slot)
            return
        except Fault:
            limiter.faulted()
        finally:
            limiter.release(slot)
        if limiter.down_since is not None:
            if provider.clock() - limiter.down_since > LIMITS.max_outage_s:
                raise Fault(FaultKind.SERVER, "down for too long")
            continue
        charged += 1
        if charged >= LIMITS.max_tries:
            raise Fault(FaultKind.SERVER, "boom")
        await asyncio.sleep(LIMITS.backoff_s * 2.0 ** (charged - 1) * provider.random.random())


class SlotWatch(Watch):
    """Waits for retries in the line."""

    def __init__(self, line: RetryLine, limiter: Limiter) -> None:
        self._line, self._limiter = line, limiter

    async def wait_to_retry(self, wait_s: float) -> None:
        await self._line.wait(wait_s, lambda: None, keeps_slot=not self._limiter.is_proven)


async def ask_beside(provider: Provider, limiter: Limiter, line: RetryLine, number: int) -> None:
    """Try by the rule of today."""

    async def once(this_try: Try) -> None:
        del this_try
        await provider.answer(number)

    await ask_until_answered(once, Balancer([("", limiter)]), LIMITS, SlotWatch(line, limiter))


RULES: dict[str, tuple[Callable[..., Limiter], Ask]] = {
    "plain AIMD": (PlainLimiter, ask_plainly),
    "today": (Limiter, ask_beside),
}


@dataclass
class Outcome:
    """When entries ended, seconds from the beginning."""

    answered: list[float] = field(default_factory=list[float])
    broken: list[float] = field(default_factory=list[float])
    most: int = 0
    calls: int = 0


async def play(provider: Provider, limiter: Limiter, ask: Ask, numbers: list[int], concurrency: int) -> Outcome:
    """Play all entries as the engine does: slots, the line for them, three calls before the first answer."""
    outcome, changed = Outcome(), asyncio.Event()
    line, running, waiting = RetryLine(changed.set), set[asyncio.Task[None]](), list(reversed(numbers))
    began = provider.clock()

    async def entry(number: int) -> None:
        try:
            await ask(provider, limiter, line, number)
            outcome.answered.append(provider.clock() - began)
        except Fault:
            outcome.broken.append(provider.clock() - began)

    def end(task: "asyncio.Task[None]") -> None:
        running.discard(task)
        changed.set()

    while waiting or running:
        changed.clear()
        while len(running) - len(line) < (concurrency if limiter.is_proven else UNPROVEN_CALLS):
            if line.is_next(others_wait=bool(waiting)):
                line.release_next()
            elif waiting and line.has_room:
                line.note_start()
                number = waiting.pop(0) if limiter.is_suspect else waiting.pop()
                task = asyncio.create_task(entry(number))
                running.add(task)
                task.add_done_callback(end)
            else:
                break
        await changed.wait()
    outcome.most, outcome.calls = provider.most, provider.calls
    return outcome


def simulate(rule: str, name: str, options: argparse.Namespace, random_seed: int) -> Outcome:
    """Play one run in virtual time; `calm` leaves out the entries that always fail."""
    loop, random = VirtualLoop(), Random(random_seed)
    seed(random_seed)
    bad = {number for number in range(options.entries) if random.random() < 0.25}
    provider_name, fine_only = name.removesuffix(", fine"), name.endswith(", fine")
    provider = Provider(provider_name, options.entries, options.latency_ms / 1000, random, loop.time, bad=bad)
    numbers = [number for number in range(options.entries) if not (fine_only and number in bad)]
    limiter_module.time = retry_module.time = loop.clock
    make_limiter, ask = RULES[rule]
    try:
        return loop.run_until_complete(play(provider, make_limiter("m"), ask, numbers, options.concurrency))
    finally:
        limiter_module.time = retry_module.time = time
        loop.close()


def compare(rule: str, name: str, options: argparse.Namespace) -> list[str]:
    """Play one way to fail with all seeds, print a line, return the bounds that do not hold."""
    calm_name = "calm, fine" if name in ("poisoned", "slow") else "calm"
    ratios, graded, broken, most, calls = list[float](), list[int](), list[int](), 0, list[int]()
    for random_seed in range(options.seeds):
        outcome = simulate(rule, name, options, random_seed)
        graded.append(len(outcome.answered))
        broken.append(len(outcome.broken))
        calls.append(outcome.calls)
        most = max(most, outcome.most)
        if outcome.answered and name != "outage":
            calm = simulate(rule, calm_name, options, random_seed)
            ratios.append(max(outcome.answered) / max(calm.answered))
    shown = f"x {mean(ratios):7.2f} (at most {max(ratios):7.2f})" if ratios else " " * 28
    at_once = f"   {most} at once while nothing succeeds" if name in ("failing", "outage") else ""
    counts = f"{mean(graded):4.0f} graded {mean(broken):4.0f} broken {mean(calls):6.0f} calls"
    print(f"{rule:<12}{name:<10}{shown}   {counts}{at_once}", flush=True)
    return [
        *([f"{name}: x {max(ratios):.2f}"] if ratios and max(ratios) > BOUNDS.get(name, 1e9) else []),
        *([f"{name}: {most} calls at once"] if most > AT_ONCE else []),
        *([f"{name}: {max(broken)} broken"] if name in ("random", "outage") and max(broken) > 1 else []),
    ]


def main() -> int:
    """Compare both rules; only that of today has to hold its bounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name in NAMES:
        compare("plain AIMD", name, options)
    failures = [failure for name in NAMES for failure in compare("today", name, options)]
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
