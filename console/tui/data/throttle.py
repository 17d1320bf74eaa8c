"""`Throttle`: slows a computing thread down so that keys typed meanwhile are answered at once."""

import time
from collections.abc import Callable

MOST_S = 0.01
"""Longest rest. On a busy machine the work takes longer; the rest must not."""


class Throttle:
    """Call it now and then in a thread that computes: it rests for as long as the thread has computed since.

    Threads share one interpreter. Whenever the app's loop has waited for anything, it gets the interpreter back only
    after the computing thread is made to release it, and handling one key takes a dozen such waits.
    """

    def __init__(
        self, clock: Callable[[], float] = time.thread_time, rest: Callable[[float], object] = time.sleep
    ) -> None:
        """Start counting. `clock` returns the seconds computed so far; `rest` sleeps for some seconds."""
        self._clock, self._rest = clock, rest
        self._since = clock()

    def __call__(self) -> None:
        """Rest."""
        self._rest(min(self._clock() - self._since, MOST_S))
        self._since = self._clock()
