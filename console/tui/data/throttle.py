"""`Throttle`: slows down a computing thread to keep the app responsive."""

import time
from collections.abc import Callable

MOST_S = 0.01
"""Longest sleep in seconds, so that a busy machine does not extend it further."""


class Throttle:
    """Sleeps, when called from a computing thread, for as long as the thread has computed since the last call.

    After each wait, the app's loop must reacquire the interpreter lock from the computing thread, and handling one key
    takes a dozen waits.
    """

    def __init__(
        self, clock: Callable[[], float] = time.thread_time, rest: Callable[[float], object] = time.sleep
    ) -> None:
        """Start timing. `clock` returns the CPU seconds of the thread; `rest` sleeps."""
        self._clock, self._rest = clock, rest
        self._since = clock()

    def __call__(self) -> None:
        self._rest(min(self._clock() - self._since, MOST_S))
        self._since = self._clock()
