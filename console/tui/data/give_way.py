"""Work in a thread beside the app's loop that keeps no key waiting."""

import time
from collections.abc import Callable

MOST_S = 0.01
"""Longest rest; a machine that is busy otherwise stretches work, which is no reason to rest as long."""


class GiveWay:
    """Called now and then by a thread that computes, rests as long as it has computed since.

    Threads share one interpreter: each time the loop waits for anything, it gets the interpreter back only when the
    computing thread is made to hand it over. A key waits so a dozen times before it is painted.
    """

    def __init__(
        self, clock: Callable[[], float] = time.thread_time, rest: Callable[[float], object] = time.sleep
    ) -> None:
        """Begin to count; `clock` returns the seconds computed, `rest` takes seconds."""
        self._clock, self._rest = clock, rest
        self._since = clock()

    def __call__(self) -> None:
        """Rest."""
        self._rest(min(self._clock() - self._since, MOST_S))
        self._since = self._clock()
