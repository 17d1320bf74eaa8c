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
    found: list[Level | str] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(_probe())), name="sandbox-probe")
    thread.start()  # a thread of its own, because the caller may have a running event loop
    thread.join()
    if not found or isinstance(found[0], str):
        raise UsageError(f"no sandbox can be started: {found[0] if found else 'the probe failed'}")
    return found[0]


async def _probe() -> Level | str:
    try:
        worker = await Worker.start("console.sandbox.programs.cell", allow_weaker=True)
    except WorkerLost as lost:
        return lost.message
    await worker.kill()
    return worker.level
