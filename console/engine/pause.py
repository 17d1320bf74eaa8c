"""Waits of the whole run: a provider asks for one until a time it names or a person says now; a person for a pause.

Of a provider's wait both clocks are watched, because neither is enough: the wall clock may be set back while a run
waits, and the monotonic one stands still while the machine sleeps. Whichever says first that the time has come is
believed; at worst the provider refuses once more.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable

CLOCK_CHECK_S = 15.0
"""How often a wait looks at the wall clock, which may have jumped."""


class ProviderPause:
    """A wait that a provider has asked for; nothing is started while it lasts."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        """`on_end` is called whenever a wait is over."""
        self._on_end = on_end
        self._wall = self._monotonic = 0.0
        self._ended_early = asyncio.Event()

    @property
    def left_s(self) -> float:
        """Seconds still to wait; 0 outside of a wait."""
        return max(0.0, min(self._wall - time.time(), self._monotonic - time.monotonic()))

    @property
    def why(self) -> str:
        """What watchers see; empty outside of a wait."""
        return f"rate limited, the provider asks to wait {left:.0f} s more" if (left := self.left_s) else ""

    def extend(self, seconds: float) -> None:
        """Wait for this long from now, or for as long as was asked for already."""
        if seconds > self.left_s:
            self._wall, self._monotonic = time.time() + seconds, time.monotonic() + seconds
            self._ended_early.clear()

    def end(self) -> None:
        """End the wait now."""
        self._wall = 0.0
        self._ended_early.set()
        self._on_end()

    async def wait(self) -> None:
        """Return when the wait is over."""
        while left := self.left_s:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, CLOCK_CHECK_S)):
                    await self._ended_early.wait()
        self._on_end()


class ManualPause:
    """A pause that a person has asked for; true while it lasts. Calls in flight go on."""

    def __init__(self) -> None:
        self._resumed = asyncio.Event()
        self._resumed.set()

    def __bool__(self) -> bool:
        """Whether the run is paused."""
        return not self._resumed.is_set()

    def set(self, *, on: bool) -> None:
        """Begin or end the pause."""
        if on:
            self._resumed.clear()
        else:
            self._resumed.set()

    async def wait(self) -> None:
        """Return when the run is not paused."""
        await self._resumed.wait()
