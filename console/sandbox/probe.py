"""Probes which level of confinement this machine reaches."""

import asyncio
import threading
from functools import cache

from console.core.fault import UsageError
from console.sandbox.level import Level
from console.sandbox.worker import Worker, WorkerLost


@cache
def reached_level() -> Level:
    """Start and end a worker and return its level, cached for the process.

    Raises:
        UsageError: no worker can be started.
    """
    outcome: list[Level | str] = []
    thread = threading.Thread(target=lambda: outcome.append(asyncio.run(_probe())), name="sandbox-probe")
    thread.start()  # its own thread, because the caller may have a running event loop
    thread.join()
    if not outcome or isinstance(outcome[0], str):
        raise UsageError(f"the sandbox cannot be started: {outcome[0] if outcome else 'the probe failed'}")
    return outcome[0]


async def _probe() -> Level | str:
    try:
        worker = await Worker.start("console.sandbox.programs.cell", allow_weaker=True)
    except WorkerLost as lost:
        return lost.message
    await worker.kill()
    return worker.level
