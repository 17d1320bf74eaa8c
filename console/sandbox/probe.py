"""Probes which level of confinement this machine reaches."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
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
    with ThreadPoolExecutor(1, "sandbox-probe") as thread:  # because the caller may have a running event loop
        outcome = thread.submit(lambda: asyncio.run(_probe())).result()
    if isinstance(outcome, str):
        raise UsageError(f"the sandbox cannot be started: {outcome}")
    return outcome


async def _probe() -> Level | str:
    try:
        worker = await Worker.start("console.sandbox.programs.cell", allow_weaker=True)
    except WorkerLost as lost:
        return lost.message
    await worker.kill()
    return worker.level
