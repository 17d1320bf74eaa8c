"""Pauses of the whole run: until a time that a provider named, or until the user resumes.

A provider pause watches two clocks, because neither suffices: the wall clock may be set back, and the monotonic one
stops while the machine sleeps. The earlier of the two decides; at worst the provider refuses once more.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable

CLOCK_CHECK_S = 15.0
"""Seconds between checks of the wall clock, which may be set."""


class ProviderPause:
    """A pause asked for by a provider; nothing starts while it lasts."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        """Create the pause; `on_end` is called whenever one ends."""
        self._on_end = on_end
        self._wall = self._monotonic = 0.0
        self._ended_early = asyncio.Event()

    @property
    def left_s(self) -> float:
        """Remaining seconds; 0 outside of a pause."""
        return max(0.0, min(self._wall - time.time(), self._monotonic - time.monotonic()))

    @property
    def why(self) -> str:
        """Message for watchers; empty outside of a pause."""
        return f"rate limited, the provider asks to wait {left:.0f} s more" if (left := self.left_s) else ""

    def extend(self, seconds: float) -> None:
        """Pause for this long from now, unless a longer pause is already in effect."""
        if seconds > self.left_s:
            self._wall, self._monotonic = time.time() + seconds, time.monotonic() + seconds
            self._ended_early.clear()

    def end(self) -> None:
        self._wall = 0.0
        self._ended_early.set()
        self._on_end()

    async def wait(self) -> None:
        """Wait until the pause is over."""
        while left := self.left_s:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, CLOCK_CHECK_S)):
                    await self._ended_early.wait()
        self._on_end()


class ManualPause:
    """A pause requested by the user; true while it lasts. Calls in flight continue."""

    def __init__(self) -> None:
        self._resumed = asyncio.Event()
        self._resumed.set()

    def __bool__(self) -> bool:
        return not self._resumed.is_set()

    def set(self, *, on: bool) -> None:
        """Start or end the pause."""
        if on:
            self._resumed.clear()
        else:
            self._resumed.set()

    async def wait(self) -> None:
        await self._resumed.wait()
