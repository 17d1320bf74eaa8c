"""Speed of a run in tokens per second: an estimate, to be shown as one."""

import math
import time
from collections import deque
from collections.abc import Callable

from console.core.record import AnyRecord, Asked, Closed, Opened

WINDOW_S = 30.0
"""Seconds over which tokens of finished calls are averaged."""
STREAM_WINDOW_S = 5.0
"""Seconds over which streamed text is averaged."""
CHARACTERS_PER_TOKEN = 4.0
"""Typical characters per token of English text, for text without a token count."""


class Pace:
    """Recent rates. Finished work is timed by its records, streamed text by `clock`."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._replies: deque[tuple[float, int]] = deque()
        self._streamed: deque[tuple[float, int]] = deque()
        self._since = math.inf
        """Start of the engine, or else the first reply; without it the last replies before a pause would seem quick."""

    def apply(self, record: AnyRecord) -> None:
        match record:
            case Opened():
                self._since = record.at
            case Asked():
                self._since = min(self._since, record.at)
                usage = record.reply.usage
                self._replies.append((record.at, usage.output if usage else 0))
                _forget(self._replies, record.at - WINDOW_S)
            case Closed():
                self._streamed.clear()
            case _:
                pass

    def wrote(self, characters: int) -> None:
        now = self._clock()
        self._streamed.append((now, characters))
        _forget(self._streamed, now - STREAM_WINDOW_S)

    def tokens_per_s(self) -> float | None:
        """Estimate current output tokens per second; None if nothing was written recently."""
        now = self._clock()
        _forget(self._streamed, now - STREAM_WINDOW_S)
        if self._streamed:
            span = min(STREAM_WINDOW_S, max(now - self._streamed[0][0], 0.5))
            return sum(count for _, count in self._streamed) / CHARACTERS_PER_TOKEN / span
        _forget(self._replies, now - WINDOW_S)
        if not self._replies:
            return None
        span = min(WINDOW_S, max(now - self._since, 1.0))
        return sum(count for _, count in self._replies) / span


def _forget(items: deque[tuple[float, int]], before: float) -> None:
    while items and items[0][0] < before:
        items.popleft()
