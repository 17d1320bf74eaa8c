"""Finding out beforehand how far confinement reaches on this machine."""

import asyncio
import threading
from functools import cache

from console.core.fault import UsageError
from console.sandbox.level import Level
from console.sandbox.worker import Worker, WorkerLost


@cache
def reached_level() -> Level:
    """Start and end a worker and return its level; known from then on.

    Raises:
        UsageError: no worker can be started at all.
    """
    outcome: list[Level | str] = []
    thread = threading.Thread(target=lambda: outcome.append(asyncio.run(_probe())), name="sandbox-probe")
    thread.start()  # a thread of its own, because the caller may have a running event loop
    thread.join()
    if not outcome or isinstance(outcome[0], str):
        raise UsageError(f"no sandbox can be started: {outcome[0] if outcome else 'the probe failed'}")
    return outcome[0]


async def _probe() -> Level | str:
    try:
        worker = await Worker.start("console.sandbox.programs.cell", allow_weaker=True)
    except WorkerLost as lost:
        return lost.message
    await worker.kill()
    return worker.level
