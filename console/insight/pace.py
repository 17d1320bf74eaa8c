"""Speed of a run: tokens per second and time left. Both are estimates and must be shown as such."""

import time
from collections import deque
from collections.abc import Callable

from console.core.record import CLOCK, AnyRecord, Asked, Closed, Finished, Opened, Steered

WINDOW_S = 30.0
"""Seconds over which tokens of finished calls are averaged."""
STREAM_WINDOW_S = 5.0
"""Seconds over which streamed text is averaged."""
CHARACTERS_PER_TOKEN = 4.0
"""Typical characters per token of English text, for text without a token count."""
FINISHES = 50
"""Number of most recent rollouts used to estimate the time left."""


class Pace:
    """Recent rates. Finished work is timed by its records, streamed text by `clock`."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._replies: deque[tuple[float, int]] = deque()
        self._streamed: deque[tuple[float, int]] = deque()
        self._finishes: deque[float] = deque(maxlen=FINISHES)
        self._read_late_s = 0.0
        """Age of the last finish when its record was read; large while a long journal is read."""
        self._opened_at = 0.0

    def apply(self, record: AnyRecord) -> None:
        match record:
            case Asked():
                usage = record.reply.usage
                self._replies.append((record.at, usage.output if usage else 0))
                _forget(self._replies, record.at - WINDOW_S)
            case Finished():
                self._finishes.append(record.at)
                self._read_late_s = max(self._clock() - record.at, 0.0)
            case Opened():
                self._opened_at = record.at
                self._finishes.clear()
            case Steered() if record.what == CLOCK:
                self._opened_at = record.at
                self._finishes.clear()
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
        span = min(WINDOW_S, max(now - self._replies[0][0], 1.0))
        return sum(count for _, count in self._replies) / span

    def seconds_left(self, rollouts: int) -> float | None:
        """Estimate the time for this many rollouts at the recent pace; None when unknown."""
        if rollouts <= 0:
            return 0.0
        if len(self._finishes) < 3:
            return None
        if len(self._finishes) < FINISHES:
            since, count = self._opened_at or self._finishes[0], len(self._finishes)
        else:
            since, count = self._finishes[0], len(self._finishes) - 1
        span = max(self._clock() - self._read_late_s - since, 0.0)
        return span / count * rollouts if span > 0 else None


def _forget(items: deque[tuple[float, int]], before: float) -> None:
    while items and items[0][0] < before:
        items.popleft()
