"""Conversations whose call has failed and waits for its next try. They hold no slot, so that the others go on.

When its wait is over, a conversation lines up for a slot. While new conversations could start as well, every eighth
slot goes to one that lines up: so requests that fail for ever cost the others little, and where one in ten fails by
chance, none pile up.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable

MOST_WITHOUT_SLOT = 512
"""Conversations that may wait; with more of them, nothing new starts."""
_STARTS_PER_RETRY = 7


class RetryLine:
    """Who waits without a slot, and who is next to get one."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """`on_change` is called when a slot was left, or somebody lines up for one."""
        self._on_change = on_change
        self._without_slot = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._hurry = asyncio.Event()
        self._starts = 0

    def __len__(self) -> int:
        """Conversations without a slot."""
        return self._without_slot

    @property
    def has_room(self) -> bool:
        """Whether something new may start, which may come to wait here too."""
        return self._without_slot < MOST_WITHOUT_SLOT

    def is_next(self, *, others_wait: bool) -> bool:
        """Whether the next free slot goes to who lines up here.

        Args:
            others_wait: whether a new conversation could have it.
        """
        while self._line and self._line[0].done():  # stopped a moment ago
            self._line.popleft()
        return bool(self._line) and (not others_wait or not self.has_room or self._starts >= _STARTS_PER_RETRY)

    def release_next(self) -> None:
        """Give a slot to who has lined up longest; there is somebody when `is_next` is true."""
        self._starts = 0
        self._without_slot -= 1
        self._line.popleft().set_result(None)

    def note_start(self) -> None:
        """Count a slot that was given to a new conversation."""
        self._starts += 1

    def retry_now(self) -> None:
        """End all waits; who waited lines up."""
        self._hurry.set()
        self._hurry = asyncio.Event()

    async def wait(self, seconds: float, lines_up: Callable[[], None], *, keeps_slot: bool = False) -> None:
        """Wait, and return with a slot.

        Args:
            seconds: how long at least, unless `retry_now` ends it.
            lines_up: called when the time is over and only a slot is missing.
            keeps_slot: do not give the conversation's slot away meanwhile.
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
            if not turn.done() or turn.cancelled():  # it was stopped while it waited
                self._without_slot -= 1
                with contextlib.suppress(ValueError):
                    self._line.remove(turn)

    async def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
