"""An event loop that waits for nothing: its clock goes on to whatever is due next."""

import asyncio
import selectors
from typing import Any


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time, seconds from 1000; what reads `time.monotonic` must be given `clock`."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return self.now

    @property
    def clock(self) -> Any:
        """Stands in for the module `time`."""
        loop = self

        class Clock:
            monotonic = staticmethod(loop.time)
            time = staticmethod(loop.time)

        return Clock


class _Skipping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        self._loop.now += timeout or 0.0
        return super().select(0)
