"""A wait that a provider asks of the whole run: until the time it has named, or until a person says now.

Both clocks are watched, because neither is enough: the wall clock may be set back while a run waits, and the monotonic
one stands still while the machine sleeps. Whichever says first that the time has come is believed; at worst the
provider refuses once more.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable

LOOK_S = 15.0
"""How often a wait looks at the wall clock, which may have jumped."""


class Hold:
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
