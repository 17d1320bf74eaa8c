"""Waits of the whole run: a provider asks for one until a time it names or a person says now; a person for a pause.

Of a provider's wait both clocks are watched, because neither is enough: the wall clock may be set back while a run
waits, and the monotonic one stands still while the machine sleeps. Whichever says first that the time has come is
believed; at worst the provider refuses once more.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable

LOOK_S = 15.0
"""How often a wait looks at the wall clock, which may have jumped."""


class ProviderPause:
    """Nothing is started while it lasts."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        """Hold nothing yet; `on_end` is called when a hold is over."""
        self._on_end = on_end
        self._wall = self._monotonic = 0.0
        self._hurry = asyncio.Event()

    @property
    def left_s(self) -> float:
        """Seconds still to wait; 0 when nothing is held."""
        return max(0.0, min(self._wall - time.time(), self._monotonic - time.monotonic()))

    @property
    def why(self) -> str:
        """What watchers are told; empty when nothing is held."""
        return f"rate limited, the provider asks to wait {left:.0f} s more" if (left := self.left_s) else ""

    def extend(self, seconds: float) -> None:
        """Hold for this long from now, or as long as is held already."""
        if seconds > self.left_s:
            self._wall, self._monotonic = time.time() + seconds, time.monotonic() + seconds
            self._hurry.clear()

    def end(self) -> None:
        """Go on now."""
        self._wall = 0.0
        self._hurry.set()
        self._on_end()

    async def wait(self) -> None:
        """Return when the hold is over."""
        while left := self.left_s:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), min(left, LOOK_S))
        self._on_end()


class ManualPause:
    """A person's wish that no call starts; true while it holds. Calls in flight go on."""

    def __init__(self) -> None:
        """Let everything start."""
        self._over = asyncio.Event()
        self._over.set()

    def __bool__(self) -> bool:
        """Whether it holds."""
        return not self._over.is_set()

    def set(self, *, on: bool) -> None:
        """Begin or end it."""
        if on:
            self._over.clear()
        else:
            self._over.set()

    async def over(self) -> None:
        """Return when it has ended."""
        await self._over.wait()
