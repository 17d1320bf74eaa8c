"""Limits learned from an endpoint's rate limits: concurrent calls, and the time between two starts.

A rate limit halves the concurrency once per episode, or lowers it to the number of calls that were not refused; good
answers raise it while all of it is in use. The rate of calls accepted between two rate limits becomes the pace of
later starts, whatever times the provider names, and rises slightly with every good answer. No I/O: a process that is
alone learns with it, and so does the keeper of an endpoint for all processes (`keeper`).
"""

from typing import Protocol

import msgspec

_HIGHEST = 256
_START = 32
_GROWTH = 0.25
"""Growth of the concurrency per good answer after the first rate limit; before that it is 1."""
_SPEEDUP = 0.02
"""Reduction of the time between two starts per good answer."""


def widest(ceiling: int | None, other: int | None) -> int | None:
    """Return the wider of two ceilings; None means no configured ceiling."""
    wider = max(ceiling or _HIGHEST, other or _HIGHEST)
    return wider if wider in (ceiling, other) else None


class Learned(msgspec.Struct, frozen=True):
    """Learned limits as passed from one keeper to the next."""

    limit: float
    """Concurrent calls."""
    pace_s: float
    """Seconds between two starts; 0 for no pace."""
    cuts: int
    """Rate-limit episodes so far."""


class Learner(Protocol):
    """Learns for a limiter: a `LearnedLimit`, or a `LimitShare` that reports to the keeper."""

    @property
    def limit(self) -> int:
        """Concurrent calls allowed."""
        ...

    @property
    def pace_s(self) -> float:
        """Minimum seconds between two starts."""
        ...

    @property
    def cuts(self) -> int:
        """Rate-limit episodes so far; each call remembers the number at its start."""
        ...

    def succeeded(self, *, is_full: bool) -> None:
        """Record a good answer; `is_full` if all allowed calls were in use."""
        ...

    def ended(self) -> None:
        """Record the end of a call, successful or not."""
        ...

    def throttled(self, in_flight: int, cuts: int, now: float, paused_until: float) -> None:
        """Record a rate limit, before the end of the refused call.

        Args:
            in_flight: concurrent calls, including the refused one.
            cuts: episodes known when the call started; a call from before the last episode belongs to that episode.
            now: monotonic time in seconds.
            paused_until: end of the current or last pause.
        """
        ...

    def forget_pace(self) -> None:
        """Forget the pace, at the user's request."""
        ...

    def forget_passed(self) -> None:
        """Forget how many calls were accepted since the last rate limit, because the provider was down."""
        ...


class LearnedLimit:
    """The learning rule, for one process or for all together."""

    def __init__(self, ceiling: int | None) -> None:
        """Start at the configured ceiling; None to learn the limit."""
        self._allowed = ceiling
        self._ceiling = float(ceiling or _HIGHEST)
        self._limit = min(self._ceiling, float(_START)) if ceiling is None else self._ceiling
        self._cut_at = 0.0
        self._passed = 0
        self.pace_s, self.cuts = 0.0, 0

    @property
    def limit(self) -> int:
        return max(1, int(self._limit))

    @property
    def can_grow(self) -> bool:
        """True if good answers raise the limit."""
        return self._limit < self._ceiling

    @property
    def learned(self) -> Learned:
        """Learned limits, for the next keeper."""
        return Learned(self._limit, self.pace_s, self.cuts)

    def follow(self, learned: Learned) -> None:
        """Take over another keeper's limits if it knows more."""
        if (learned.cuts, learned.limit) > (self.cuts, self._limit):
            self._limit, self.pace_s, self.cuts = min(self._ceiling, learned.limit), learned.pace_s, learned.cuts

    @classmethod
    def part(cls, learned: Learned | None, ceiling: int | None, parts: int) -> "LearnedLimit":
        """Return an even part of the limits, for a process without a keeper.

        Args:
            learned: limits learned by all; None if there are none yet.
            ceiling: this process's part of the configured ceiling.
            parts: number of processes.
        """
        part = cls(ceiling)
        if learned is not None:
            part._limit = min(part._ceiling, learned.limit / parts)
            part.pace_s, part.cuts = learned.pace_s * parts, learned.cuts
        elif ceiling is None:
            part._limit /= parts
        return part

    def allow(self, ceiling: int | None) -> None:
        """Change the ceiling; what was learned below the old one is kept."""
        if ceiling == self._allowed:
            return
        before, self._allowed, self._ceiling = self._ceiling, ceiling, float(ceiling or _HIGHEST)
        if self.cuts:
            self._limit += max(0.0, self._ceiling - before)
        else:
            self._limit = max(self._limit, float(_START)) if ceiling is None else self._ceiling
        self._limit = min(self._ceiling, self._limit)

    def succeeded(self, *, is_full: bool) -> None:
        self.pace_s *= 1.0 - _SPEEDUP
        if is_full:
            self._limit = min(self._ceiling, self._limit + (_GROWTH if self.cuts else 1.0))

    def ended(self) -> None:
        self._passed += 1

    def throttled(self, in_flight: int, cuts: int, now: float, paused_until: float) -> None:
        if cuts < self.cuts:
            self._limit = max(1.0, min(self._limit, float(in_flight - 1)))
            self._passed -= 1
            return
        self._limit = max(1.0, min(self._limit, float(in_flight)) / 2)
        if self.cuts and self._passed > 0:
            # Accepted calls and the refused one each end a gap. Pauses are excluded, so that refusals unrelated to
            # the pace cannot slow calls down further and further.
            self.pace_s = max(0.0, now - max(paused_until, self._cut_at)) / (self._passed + 1)
        self._cut_at, self._passed = now, -1  # the refused call has not ended yet
        self.cuts += 1

    def forget_pace(self) -> None:
        self.pace_s, self._passed = 0.0, 0

    def forget_passed(self) -> None:
        self._passed = 0
