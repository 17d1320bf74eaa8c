"""Timeline of a run for playback: one clock over all of its sessions. Pure.

Model calls are journaled when answered; the time of sending follows from the latency. Gaps between sessions are cut
out.
"""

from array import array
from bisect import bisect_left, bisect_right

from console.core.case import Key
from console.core.record import AnyRecord, Asked, Opened

SESSION_GAP_S = 1.0
"""Seconds kept of the gap between two sessions."""

Place = tuple[int, int]
"""Position of a record in the journal, as counted by its reader."""


class Timeline:
    """Times of all records in seconds from the start. Add records in journal order, then call `settle`."""

    def __init__(self) -> None:
        self._times = array("d")
        self._epochs = array("d")
        self._starts, self._lengths = array("Q"), array("Q")
        self._sent: list[tuple[float, int]] = []
        self._last_of: dict[Key, float] = {}
        self._last_epoch = 0.0

    def __len__(self) -> int:
        return len(self._times)

    @property
    def length_s(self) -> float:
        """Time of the last record."""
        return self._times[-1] if self._times else 0.0

    def add(self, record: AnyRecord, span: Place) -> None:
        """Add the next record; after the clock was set back, time does not advance until the clock has caught up."""
        gap = max(record.at - self._last_epoch, 0.0) if self._times else 0.0
        now = self.length_s + (min(gap, SESSION_GAP_S) if isinstance(record, Opened) else gap)
        self._last_epoch = max(record.at, self._last_epoch) if not isinstance(record, Opened) else record.at
        key = getattr(record, "key", None)
        if isinstance(record, Asked):
            sent = max(now - record.reply.latency_s, self._last_of.get(record.key, 0.0))
            self._sent.append((sent, len(self._times)))
        if isinstance(key, Key):
            self._last_of[key] = now
        self._times.append(now)
        self._epochs.append(record.at)
        self._starts.append(span[0])
        self._lengths.append(span[1])

    def settle(self) -> None:
        """Sort calls by time of sending."""
        self._sent.sort()
        self._last_of.clear()

    def time_of(self, number: int) -> float:
        """Return the time of a record, in seconds from the start."""
        return self._times[number]

    def place_of(self, number: int) -> Place:
        """Return the position of a record in the journal."""
        return self._starts[number], self._lengths[number]

    def epoch_at(self, time_s: float) -> float:
        """Convert a time of the run to seconds since the epoch."""
        index = max(bisect_right(self._times, time_s) - 1, 0)
        return self._epochs[index] + time_s - self._times[index] if self._times else 0.0

    def count_until(self, time_s: float) -> int:
        return bisect_right(self._times, time_s)

    def sent_between(self, after_s: float, until_s: float) -> list[tuple[float, int]]:
        """Return (time of sending, record number) of the calls sent in (after, until]."""
        first = bisect_right(self._sent, (after_s, len(self._times)))
        return self._sent[first : bisect_left(self._sent, (until_s, len(self._times)))]
