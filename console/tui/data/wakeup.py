"""Answers that begin: what a reader waits for, so the thread that reads and the loop that draws are woken at once."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable

from console.core.case import Key


class FirstTokenWakeup:
    """Links the loop in which frames arrive to the thread that reads the journal, and back to whoever draws."""

    def __init__(self) -> None:
        """Expect nothing."""
        self._expected: set[Key] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._look = threading.Event()
        self._news = asyncio.Event()

    def start(self) -> None:
        """Take the loop that is to be woken: the running one."""
        self._loop = asyncio.get_running_loop()

    # In the loop -----------------------------------------------------------------------------------------------------

    def expect(self, keys: Iterable[Key]) -> None:
        """An answer has begun in these conversations: have the journal read, which must come first."""
        self._expected.update(keys)
        self._look.set()

    def shown(self) -> None:
        """Nothing is expected any more: all that arrived has been applied."""
        self._expected.clear()

    async def news(self, seconds: float, awaited: Callable[[Key], bool]) -> None:
        """Return after so many seconds, or as soon as an answer that is awaited can be drawn."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    await self._news.wait()
                    self._news.clear()
                    if any(map(awaited, self._expected)):
                        return

    # In the thread ---------------------------------------------------------------------------------------------------

    def pause(self, seconds: float) -> None:
        """Rest from reading until there is something to look for."""
        if self._expected and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the app has ended meanwhile
                self._loop.call_soon_threadsafe(self._news.set)
        self._look.wait(seconds)
        self._look.clear()

    def stop(self) -> None:
        """End the pause for good."""
        self._look.set()
