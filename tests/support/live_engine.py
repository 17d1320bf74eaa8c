"""A link to an engine in another process, for tests that watch or steer a run."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from console.core.live import Status
from console.engine.attach import EngineLink

ENDS_S = 100.0
"""Far longer than an engine on a busy machine takes to listen or to reach a state."""


async def attach(run: Path) -> EngineLink:
    """Attach to the engine of a run folder as soon as it listens."""
    async with asyncio.timeout(ENDS_S):
        while (link := await EngineLink.connect(run)) is None:  # noqa: ASYNC110  a socket file has no event
            await asyncio.sleep(0.02)
    return link


async def state_with(link: EngineLink, holds: Callable[[Status], bool]) -> Status:
    """Return the first state that holds."""
    async with asyncio.timeout(ENDS_S):
        async for frame in link.frames():
            if isinstance(frame, Status) and holds(frame):
                return frame
    raise AssertionError("the run ended before")
