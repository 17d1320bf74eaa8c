"""Conversations waiting to retry a failed call. They give up their slot, so that others continue.

After its wait, a conversation queues for a slot, and gets the next free one: new conversations start only while none
waits for a slot. Tries are few, so requests that fail forever delay the others little.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable

MOST_WITHOUT_SLOT = 512
"""Maximum number of waiting conversations; beyond it nothing new starts."""


class RetryLine:
    """The line of conversations that have no slot."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """Create the line; `on_change` is called when a slot is given up or a conversation queues for one."""
        self._on_change = on_change
        self._without_slot = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._hurry = asyncio.Event()

    def __len__(self) -> int:
        """Return the number of conversations without a slot."""
        return self._without_slot

    @property
    def has_room(self) -> bool:
        """True if a new conversation may start; it may later have to wait here."""
        return self._without_slot < MOST_WITHOUT_SLOT

    @property
    def is_next(self) -> bool:
        """True if a conversation is due, and gets the next free slot."""
        while self._line and self._line[0].done():  # stopped meanwhile
            self._line.popleft()
        return bool(self._line)

    def release_next(self) -> None:
        """Give a slot to the first in line; may only be called if `is_next` is true."""
        self._without_slot -= 1
        self._line.popleft().set_result(None)

    def retry_now(self) -> None:
        """End all waits; the conversations queue for slots."""
        self._hurry.set()
        self._hurry = asyncio.Event()

    async def wait(self, seconds: float, lines_up: Callable[[], None], *, keeps_slot: bool = False) -> None:
        """Wait, then return with a slot.

        Args:
            seconds: minimum wait, unless `retry_now` ends it.
            lines_up: called when the time is over and the conversation only needs a slot.
            keeps_slot: keep the conversation's slot meanwhile.
        """
        if keeps_slot:
            await self._sleep(seconds)
            return
        self._without_slot += 1
        self._on_change()
        turn = asyncio.get_running_loop().create_future()
        try:
            await self._sleep(seconds)
            self._line.append(turn)
            lines_up()
            self._on_change()
            await turn
        finally:
            if not turn.done() or turn.cancelled():  # stopped while waiting
                self._without_slot -= 1
                with contextlib.suppress(ValueError):
                    self._line.remove(turn)

    async def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
