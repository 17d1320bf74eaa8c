"""`EngineStates`: what the engines of several runs say of themselves, each over a connection without text.

Ten runs so cost no more than their figures.
"""

import asyncio
import contextlib
from collections.abc import Collection
from pathlib import Path

from console.core.live import Command, Status
from console.engine.attach import EngineLink

RETRY_S = 2.0
"""How long after a refused connection it is tried again."""


class EngineStates:
    """The latest status of each run that is asked, by the folder of the run."""

    def __init__(self) -> None:
        self.statuses: dict[Path, Status] = {}
        self._tasks: dict[Path, asyncio.Task[None]] = {}

    def ask(self, paths: Collection[Path]) -> None:
        """Ask exactly the engines of these runs from now on."""
        for path in [path for path in self._tasks if path not in paths]:
            self._tasks.pop(path).cancel()
            self.statuses.pop(path, None)
        for path in paths:
            if path not in self._tasks:
                self._tasks[path] = asyncio.get_running_loop().create_task(self._listen(path), name="engine state")

    async def _listen(self, path: Path) -> None:
        while True:
            link = await EngineLink.connect(path)
            if link is not None:
                link.send(Command("state_only"))
                with contextlib.suppress(OSError):
                    try:
                        async for frame in link.frames():
                            if isinstance(frame, Status):
                                self.statuses[path] = frame
                    finally:
                        link.close()
                self.statuses.pop(path, None)
            await asyncio.sleep(RETRY_S)
