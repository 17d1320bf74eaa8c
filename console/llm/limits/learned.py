"""Limits learned from an endpoint's rate limits: concurrent calls, and the time between two starts.

A rate limit lowers the concurrency to three quarters of the calls in flight, once per round trip; several in a row
halve it, at most to the number of calls that were not refused. Good answers raise it while all of it is in use, slowly
near the number refused last. Refusals of light calls (`chance`) lower nothing. The rate of calls accepted between two
rate limits becomes the pace of later starts, whatever times the provider names, and rises slightly with every good
answer.

Does no I/O. Used by a process on its own, and by the keeper of an endpoint for all processes (`keeper`).
"""

from typing import Protocol

import msgspec

from console.llm.limits.chance import NEGLIGIBLE, Chance, Refusal, are_together

_HIGHEST = 256
_START = 32
_CUT, _DEEP_CUT = 0.75, 0.5
"""Fraction of the refused concurrency that remains: after a rate limit, and after several in a row."""
_LIGHT = 0.85
"""Fraction of the refused concurrency up to which calls are light: load would cause none of them to be refused."""
_FORGOTTEN = 0.9
"""Fraction of the refused concurrency kept after a lower rate limit, since light calls may fail by chance."""
_FIRST_GROWTH, _GROWTH, _SLOW_GROWTH = 1.0, 0.5, 0.125
"""Growth of the concurrency per good answer: before any rate limit, after one, and near the one refused last."""
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
    chance: float = 0.0
    """Share of calls refused by chance."""


class Learner(Protocol):
    """Learns for a limiter: a `LearnedLimit`, or a `LimitShare` that reports to the keeper."""

    @property
    def limit(self) -> int:
        """Concurrent calls allowed."""
        ...

    @property
    def can_grow(self) -> bool:
        """True if good answers raise the limit."""
        ...

    @property
    def pace_s(self) -> float:
        """Minimum seconds between two starts."""
        ...

    @property
    def cuts(self) -> int:
        """Rate-limit episodes so far; each call remembers the number at its start."""
        ...

    @property
    def is_light(self) -> bool:
        """True while clearly fewer calls are allowed than when one was refused."""
        ...

    @property
    def chance(self) -> float:
        """Share of calls refused by chance."""
        ...

    def sent(self) -> None:
        """Record that a call was sent."""
        ...

    def refused(self, light: int, heavy: int) -> None:
        """Record refused calls: light ones, by chance, and others."""
        ...

    def succeeded(self, *, is_full: bool) -> None:
        """Record a good answer; `is_full` is True if all allowed calls were in use."""
        ...

    def ended(self) -> None:
        """Record the end of a call, successful or not."""
        ...

    def throttled(self, in_flight: int, refusal: Refusal, now: float, paused_until: float) -> None:
        """Lower the limits after a rate limit that is not chance, before the end of the refused call.

        Args:
            in_flight: concurrent calls, including the refused one.
            refusal: the rate limit; a call from before the last episode belongs to that episode.
            now: monotonic time in seconds.
            paused_until: end of the current or last pause.
        """
        ...

    def forget_pace(self) -> None:
        """Forget the pace, at the user's request."""
        ...

    def forget_passed(self) -> None:
        """Reset the count of calls accepted since the last rate limit, because the provider was down."""
        ...


class LearnedLimit:
    """The learning rule, for one process or for all together."""

    def __init__(self, ceiling: int | None) -> None:
        """Start at the configured ceiling; None to learn the limit."""
        self._allowed = ceiling
        self._ceiling = float(ceiling or _HIGHEST)
        self._limit = min(self._ceiling, float(_START)) if ceiling is None else self._ceiling
        self._chance = Chance()
        self._refused_at = self._before_cut = 0.0
        """Concurrency at rate limits: the reference for light calls, and the value at the first of several in a row."""
        self._light_sent = self._light_refused = 0
        """Number of light calls since the last reduction."""
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
        return Learned(self._limit, self.pace_s, self.cuts, self.chance)

    @property
    def is_light(self) -> bool:
        return self.cuts > 0 and (self.limit == 1 or self._limit <= self._refused_at * _LIGHT)

    @property
    def chance(self) -> float:
        return self._chance.share

    def sent(self) -> None:
        self.count_sent(int(self.is_light), int(not self.is_light))

    def count_sent(self, light: int, heavy: int) -> None:
        """Record calls that were sent under light and under heavy load."""
        self._light_sent += light
        self._chance.sent(light, heavy)

    def refused(self, light: int, heavy: int) -> None:
        self._chance.refused(light, heavy)
        if light and self.chance > NEGLIGIBLE:
            self.pace_s = 0.0  # measured between refusals unrelated to the pace

    def follow(self, learned: Learned) -> None:
        """Adopt another keeper's limits if they are based on more calls."""
        if (learned.cuts, learned.limit) > (self.cuts, self._limit):
            self._limit, self.pace_s, self.cuts = min(self._ceiling, learned.limit), learned.pace_s, learned.cuts
            self._chance.follow(learned.chance)

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
            part._chance.follow(learned.chance)
        elif ceiling is None:
            part._limit /= parts
        return part

    def allow(self, ceiling: int | None) -> None:
        """Change the ceiling; limits learned below the old one are kept."""
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
            self._limit = min(self._ceiling, self._limit + self._growth)

    @property
    def _growth(self) -> float:
        """Growth of the concurrency per good answer."""
        if not self.cuts:
            return _FIRST_GROWTH
        is_near = _CUT * self._refused_at <= self._limit <= self._refused_at
        return _SLOW_GROWTH if is_near and self.chance < NEGLIGIBLE else _GROWTH

    def ended(self) -> None:
        self._passed += 1

    def throttled(self, in_flight: int, refusal: Refusal, now: float, paused_until: float) -> None:
        together = are_together(refusal.row, self.chance)
        if refusal.cuts < self.cuts:
            if together:
                self._limit = max(1.0, min(self._limit, self._before_cut * _DEEP_CUT, float(in_flight - 1)))
                self._refused_at = min(self._refused_at, float(in_flight))
            self._passed -= 1
            return
        if not together and in_flight * 2 < self._limit:  # not tried yet
            self._limit = min(self._limit, max(in_flight * 2.0, float(_START)))
            self._passed -= 1
            return
        concurrency = min(self._limit, float(in_flight))
        self._light_refused += refusal.is_light
        if refusal.is_light and not together and self._light_refused * 2 <= self._light_sent:
            if self._light_refused > 1:
                self._refused_at = min(self._refused_at, concurrency)
            self._passed -= 1
            return
        self._cut(concurrency, together=together)
        if refusal.row == 1:
            self._before_cut = concurrency
        if self.cuts and self._passed > 0:
            # Accepted calls and the refused one each end a gap. Pauses are excluded, so that refusals unrelated to
            # the pace cannot slow calls down further and further.
            self.pace_s = max(0.0, now - max(paused_until, self._cut_at)) / (self._passed + 1)
        self._cut_at, self._passed = now, -1  # the refused call has not ended yet
        self.cuts += 1

    def _cut(self, concurrency: float, *, together: bool) -> None:
        """Lower the limit from a refused concurrency."""
        self._limit = max(1.0, concurrency * (_DEEP_CUT if together else _CUT))
        self._refused_at = concurrency if together else max(concurrency, _FORGOTTEN * self._refused_at)
        self._light_sent = self._light_refused = 0

    def forget_pace(self) -> None:
        self.pace_s, self._passed = 0.0, 0

    def forget_passed(self) -> None:
        self._passed = 0
