"""CPU of the keeper of limits that many workers share, in virtual time, with its messages as they are on the socket.

    python perf/bench_keeper.py [--workers 100] [--rate 1000] [--seconds 60]

Prints, per way of limiting calls: CPU of the keeper as a share of one core, and messages a second. Limiters and keeper
are the real ones; nothing sleeps. Ends with 1 when a share is above the bound.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import msgspec  # noqa: E402
from support import virtual_keeper  # noqa: E402
from support.virtual_keeper import Processes  # noqa: E402
from support.virtual_loop import VirtualLoop  # noqa: E402

from console.llm.endpoint import Watch  # noqa: E402
from console.llm.limits import limiter as limiter_module  # noqa: E402
from console.llm.limits.keeper import Keeper, ToKeeper  # noqa: E402
from console.llm.limits.limiter import Limiter  # noqa: E402
from console.llm.limits.share import LimitShare  # noqa: E402

BOUND = 0.05
"""Highest share of one core."""
WAYS = {"at once, calls of 0.5 s": (0.5, False), "at once, calls of 2 s": (2.0, False), "per minute": (0.5, True)}
"""Seconds of a call, and whether requests per minute are limited too."""


class TimedKeeper(Keeper):
    """A keeper that measures its CPU, decoding of messages included."""

    used_s, messages = 0.0, 0
    _decode = staticmethod(msgspec.json.Decoder(ToKeeper).decode)

    def receive(self, number: int, message: ToKeeper, now: float) -> float | None:
        line = msgspec.json.encode(message)
        began = time.process_time()
        due = super().receive(number, self._decode(line), now)
        TimedKeeper.used_s += time.process_time() - began
        TimedKeeper.messages += 1
        return due

    def tick(self, now: float) -> float | None:
        began = time.process_time()
        due = super().tick(now)
        TimedKeeper.used_s += time.process_time() - began
        return due


def measure(name: str, workers: int, rate: float, seconds: float) -> bool:
    """Print one line; return whether the keeper is quick enough."""
    call_s, is_paced = WAYS[name]
    ceiling, rpm = int(rate * call_s), int(60 * rate) if is_paced else None
    loop, draw, ended = VirtualLoop(), Random(1), [0]
    limiter_module.time = loop.clock  # type: ignore[attr-defined]
    virtual_keeper.Keeper = TimedKeeper
    virtual_keeper.LimitShare = lambda *_: LimitShare(ceiling, rpm, 600.0)
    TimedKeeper.used_s, TimedKeeper.messages = 0.0, 0
    end = loop.time() + seconds

    async def call(limiter: Limiter) -> None:
        while loop.time() < end:
            slot = await limiter.acquire(Watch(), max_wait_s=600.0)
            await asyncio.sleep(call_s * draw.uniform(0.5, 1.5))
            limiter.succeeded(slot)
            limiter.release(slot)
            ended[0] += 1

    async def play() -> None:
        processes = Processes(loop, workers)
        processes.connect()
        await asyncio.gather(
            *(call(one) for one in processes.limiters for _ in range(int(1.5 * ceiling / workers) + 1))
        )
        processes.leave()

    asyncio.set_event_loop(loop)
    loop.run_until_complete(play())
    share = TimedKeeper.used_s / seconds
    calls, messages = ended[0] / seconds, TimedKeeper.messages / seconds
    print(f"{name:<26} {share:6.1%} of a core  {calls:6.0f} calls/s  {messages:6.0f} messages/s")
    return share <= BOUND


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    sound = [measure(name, options.workers, options.rate, options.seconds) for name in WAYS]
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())
