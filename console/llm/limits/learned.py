"""What an endpoint takes, learnt from its rate limits: calls at once, and the time from one start to the next.

A rate limit halves the calls at once, one time per episode, or leaves as many as were not refused; each good answer
adds to them while all of them are in use. What went through from one rate limit to the next is what the provider takes,
whatever times it names: at that pace calls start from then on, a little faster with every good answer. Pure: a process
that asks alone learns so by itself, and the keeper of an endpoint learns so for all that ask it (`keeper`).
"""

from typing import Protocol

import msgspec

_HIGHEST = 256
_START = 32
_GROWTH = 0.25
"""Calls more at once for every good answer, once a rate limit has been met; before it is one."""
_SPEEDUP = 0.02
"""Share of the time between two starts that every good answer takes off."""


def widest(ceiling: int | None, other: int | None) -> int | None:
    """Return the wider of two ceilings; None is what experience may reach."""
    wider = max(ceiling or _HIGHEST, other or _HIGHEST)
    return wider if wider in (ceiling, other) else None


class Learned(msgspec.Struct, frozen=True):
    """What is known of an endpoint, as it is handed from one keeper to the next."""

    limit: float
    """Calls at once."""
    pace_s: float
    """Seconds from one start to the next; 0: as quickly as may be."""
    cuts: int
    """Episodes of rate limits so far."""


class Learner(Protocol):
    """Who learns for a limiter: a `LearnedLimit` of its own, or a `LimitShare` that tells the keeper."""

    @property
    def limit(self) -> int:
        """Calls at once that the limiter may have."""
        ...

    @property
    def pace_s(self) -> float:
        """Seconds from one of its starts to the next, at least."""
        ...

    @property
    def cuts(self) -> int:
        """Episodes of rate limits so far; a call that starts remembers it."""
        ...

    def succeeded(self, *, is_full: bool) -> None:
        """Learn from a good answer, and whether all that is allowed was in use."""
        ...

    def ended(self) -> None:
        """Learn that a call is over, however it went."""
        ...

    def throttled(self, in_flight: int, cuts: int, now: float, paused_until: float) -> None:
        """Learn from a rate limit, before the refused call is over.

        Args:
            in_flight: calls at once, with the refused one.
            cuts: episodes that were known when it started: a call of before the last one tells of the same episode.
            now: seconds of a clock that never goes back.
            paused_until: when the last pause ended, or ends.
        """
        ...

    def forget_pace(self) -> None:
        """Start calls as quickly as may be: a person asks for it."""
        ...

    def forget_passed(self) -> None:
        """Draw nothing from how little went through since the last rate limit: the provider was down meanwhile."""
        ...


class LearnedLimit:
    """The rule (see `Learner`), for one process or for all together."""

    def __init__(self, ceiling: int | None) -> None:
        """Start from what a person allowed; None leaves it to experience."""
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
        """Whether good answers add to the limit."""
        return self._limit < self._ceiling

    @property
    def learned(self) -> Learned:
        """What a follower has to know."""
        return Learned(self._limit, self.pace_s, self.cuts)

    def follow(self, learned: Learned) -> None:
        """Go on from what another one knows, if that is more."""
        if (learned.cuts, learned.limit) > (self.cuts, self._limit):
            self._limit, self.pace_s, self.cuts = min(self._ceiling, learned.limit), learned.pace_s, learned.cuts

    @classmethod
    def part(cls, learned: Learned | None, ceiling: int | None, parts: int) -> "LearnedLimit":
        """Return an even part of what all have learnt, for a process that is left alone.

        Args:
            learned: what is known; None: nothing yet.
            ceiling: its own part of what a person allowed.
            parts: how many there are.
        """
        part = cls(ceiling)
        if learned is not None:
            part._limit = min(part._ceiling, learned.limit / parts)
            part.pace_s, part.cuts = learned.pace_s * parts, learned.cuts
        elif ceiling is None:
            part._limit /= parts
        return part

    def allow(self, ceiling: int | None) -> None:
        """Take another ceiling; what has been learnt below the old one stays."""
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
            # The refusal ends as many gaps as calls were taken, and one. Pauses count for nothing, so refusals that
            # have nothing to do with pace cannot slow calls down more and more.
            self.pace_s = max(0.0, now - max(paused_until, self._cut_at)) / (self._passed + 1)
        self._cut_at, self._passed = now, -1  # the refused call is still to end
        self.cuts += 1

    def forget_pace(self) -> None:
        self.pace_s, self._passed = 0.0, 0

    def forget_passed(self) -> None:
        self._passed = 0
