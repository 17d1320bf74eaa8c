"""`ListPace`: how often the list of a run that is being read or played is made again."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

LEAST_PAUSE_S = 0.3
"""Shortest time between two lists."""
SHARE = 8
"""It is at least so many times as long as making one takes, so that listing a long run does not delay reading it."""


class ListPace:
    """Measures how long lists take, and says when the next one is due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Wait for the first news; `clock` returns seconds."""
        self.has_begun = False
        """Whether there has been a list at all."""
        self._clock = clock
        self._has_news = False
        self._begun_at = self._took_s = 0.0

    def take_news(self) -> None:
        """Something came that the list does not show."""
        self._has_news = True

    @property
    def is_due(self) -> bool:
        """Whether there is news, and enough time has passed since the last list."""
        pause = max(LEAST_PAUSE_S, SHARE * self._took_s)
        return self._has_news and self._clock() - self._begun_at > pause

    @contextmanager
    def listing(self) -> Generator[None]:
        """Measure the making of a list, which shows everything that came before."""
        self.has_begun, self._has_news, self._begun_at = True, False, self._clock()
        yield
        self._took_s = self._clock() - self._begun_at
