"""One process's share of an endpoint's limits.

It reports the answers of its limiter to the keeper, which learns for all processes. Without a keeper, such as between
two of them, each process has an even part and learns by itself below it.
"""

import asyncio
import sys
from collections.abc import Callable

from console.llm.limits.chance import Refusal
from console.llm.limits.keeper import (
    AT_RPM,
    Forget,
    FromKeeper,
    Holds,
    Join,
    Lease,
    Leave,
    Paused,
    Refused,
    Starts,
    Terms,
    ToKeeper,
    Want,
    share_alone,
)
from console.llm.limits.learned import Learned, LearnedLimit, widest

LULL_S = 0.1
"""Seconds before lower demand is reported, and before other news is, unless it may raise the lease."""


class LimitShare:
    """The limiter's side of the keeper; implements `Learner`."""

    def __init__(self, ceiling: int | None, rpm: int | None, longest_s: float) -> None:
        """Allow nothing until a keeper answers or turns out to be missing."""
        self._ceiling, self._rpm, self._longest_s = ceiling, rpm, longest_s
        self._on_change: Callable[[], None] = _nothing
        self._on_pause: Callable[[float, str], None] = _no_pause
        self._send: Callable[[ToKeeper], None] | None = None
        self._own: LearnedLimit | None = None
        """Limits learned without a keeper."""
        self._learned: Learned | None = None
        """Limits learned by all processes, as last received."""
        self._lease: Lease | None = None
        self._processes = 1
        self.cuts = 0
        """Rate-limit episodes so far."""
        self._in_flight = self._waiting = self._most_in_flight = self._most_wanted = 0
        """Current values, and their maxima since the last report."""
        self._ended = self._good = self._good_when_full = 0
        self._light = self._light_refused = self._heavy_refused = 0
        """Counts since joining the keeper; see `Want`."""
        self._started = self._allowed = 0
        """Starts since joining the keeper: used, and allowed."""
        self._has_to_answer = False
        """True until the keeper has been told that this process is within a smaller lease."""
        self._last_want: Want | None = None
        self._answer_s: float | None = None
        self._later: asyncio.TimerHandle | None = None
        self._alone_timer: asyncio.TimerHandle | None = None

    def attach(self, on_change: Callable[[], None], on_pause: Callable[[float, str], None]) -> None:
        """Attach a limiter: called when more may be sent, and with pauses of other processes."""
        self._on_change, self._on_pause = on_change, on_pause

    # Called by the limiter.

    @property
    def limit(self) -> int:
        if self._own is not None:
            part = share_alone(self._ceiling, self._processes)
            return self._own.limit if part is None else min(part, self._own.limit)
        return self._lease.requests if self._lease is not None else 0

    @property
    def is_joining(self) -> bool:
        """True until a keeper is found and has answered."""
        return self._own is None and self._lease is None

    @property
    def can_grow(self) -> bool:
        if self._own is not None:
            return self._own.can_grow
        return self._lease is not None and self._lease.grows

    @property
    def pace_s(self) -> float:
        return self._own.pace_s if self._own is not None else 0.0  # the keeper allows each start

    @property
    def is_light(self) -> bool:
        if self._own is not None:
            return self._own.is_light
        return self._lease is not None and self._lease.is_light

    @property
    def chance(self) -> float:
        if self._own is not None:
            return self._own.chance
        return self._learned.chance if self._learned is not None else 0.0

    def sent(self) -> None:
        self._light += self.is_light
        if self._own is not None:
            self._own.sent()

    def refused(self, light: int, heavy: int) -> None:
        self._light_refused += light
        self._heavy_refused += heavy
        if self._own is not None:
            self._own.refused(light, heavy)

    def succeeded(self, *, is_full: bool) -> None:
        if self._own is not None:
            self._own.succeeded(is_full=is_full)
            return
        self._good += 1
        self._good_when_full += is_full
        if is_full and self._lease is not None and self._lease.grows:
            self._send_want()

    def ended(self) -> None:
        self._ended += 1
        if self._own is not None:
            self._own.ended()

    def throttled(self, in_flight: int, refusal: Refusal, now: float, paused_until: float) -> None:
        if self._own is not None:
            self._own.throttled(in_flight, refusal, now, paused_until)
            self.cuts = self._own.cuts
            return
        self._most_in_flight = self._in_flight = in_flight
        self._send_want()
        self._send_message(Refused(*refusal))

    def forget_pace(self) -> None:
        if self._own is not None:
            self._own.forget_pace()
        self._send_message(Forget(pace=True))

    def forget_passed(self) -> None:
        if self._own is not None:
            self._own.forget_passed()
        self._send_message(Forget())

    @property
    def why_paced(self) -> str:
        """Reason why the keeper must allow each start; empty if it need not."""
        if self._own is not None:
            return AT_RPM if self._rpm is not None else ""
        return self._lease.why_paced if self._lease is not None else ""

    def room(self, in_flight: int) -> int:
        """Return the concurrency limit due to the pace."""
        return in_flight + self._allowed - self._started if self.why_paced else sys.maxsize

    def started(self) -> None:
        self._started += 1

    def note(self, in_flight: int, waiting: int, answer_s: float | None) -> None:
        """Record the current state, whenever it changes."""
        self._in_flight, self._waiting, self._answer_s = in_flight, waiting, answer_s
        if self._send is None:
            return
        self._most_in_flight = max(self._most_in_flight, in_flight)
        self._most_wanted = max(self._most_wanted, in_flight + waiting)
        self._answer_lease()
        last = self._last_want
        if (
            last is None
            or self._most_wanted > last.requests
            or (self.why_paced and self._wanted_starts() > last.starts)
        ):
            self._send_want()
        elif self._later is None:
            self._later = asyncio.get_running_loop().call_later(LULL_S, self._send_want_later)

    def _answer_lease(self) -> None:
        if self._has_to_answer and self._lease is not None and self._in_flight <= self._lease.requests:
            self._has_to_answer = False
            self._send_message(Holds(self._lease.serial))

    def widen(self, ceiling: int | None, rpm: int | None) -> None:
        """Add the limits of another model of this process: the widest ceiling and the strictest rpm apply."""
        before = self._ceiling, self._rpm
        self._ceiling = widest(self._ceiling, ceiling)
        self._rpm = min(self._rpm, rpm) if self._rpm and rpm else self._rpm or rpm
        if (self._ceiling, self._rpm) != before:
            self._send_message(Terms(self._ceiling, self._rpm))

    def pause(self, seconds: float, why: str) -> None:
        self._send_message(Paused(seconds, why))

    # Called by the connection to the keeper.

    def connected(self, send: Callable[[ToKeeper], None]) -> None:
        self._stop_timers()
        self._send, self._own, self._lease, self._last_want = send, None, None, None
        self._started = self._allowed = self._ended = self._good = self._good_when_full = 0
        self._light = self._light_refused = self._heavy_refused = 0
        self._has_to_answer = True
        send(
            Join(
                self._ceiling,
                self._rpm,
                self._longest_s,
                self._in_flight,
                others=self._processes if self._processes > 1 else 0,
                learned=self._learned,
            )
        )
        self._send_want()

    def received(self, message: FromKeeper) -> None:
        match message:
            case Lease():
                self._has_to_answer |= self._lease is not None and message.requests < self._lease.requests
                self._lease, self._processes, self._learned = message, message.processes, message.learned
                self.cuts = max(self.cuts, message.learned.cuts)
                self.note(self._in_flight, self._waiting, self._answer_s)
            case Starts(total=total):
                self._allowed = total
            case Paused(seconds=seconds, why=why):
                self._on_pause(seconds, why)
        self._on_change()

    def alone(self, processes: int = 0) -> None:
        """Continue without a keeper.

        Args:
            processes: number of processes that share the limits; 0 if unchanged.
        """
        self._stop_timers()
        self._send = None
        self._processes = processes or self._processes
        self._own = LearnedLimit.part(self._learned, share_alone(self._ceiling, self._processes), self._processes)
        self._allowed = self._started
        if self._rpm is not None:
            self._allow_one()
        self._on_change()

    def _allow_one(self) -> None:
        """Allow a start at an even part of the pace."""
        self._allowed = self._started + 1
        gap = 60.0 * self._processes / (self._rpm or 1)
        self._alone_timer = asyncio.get_running_loop().call_later(gap, self._allow_one)
        self._on_change()

    def leave(self) -> None:
        self._stop_timers()
        if self._send is not None:
            self._send(Leave())
            self._send = None

    def _wanted_starts(self) -> int:
        """Return the starts used and wanted; more would pile up and be sent all at once."""
        return self._started + min(self._waiting, max(0, self.limit - self._in_flight))

    def _send_want_later(self) -> None:
        """Report changes; ended calls matter only after a rate limit."""
        self._later = None
        if self.cuts or self._last_want is None or self._has_changed(self._last_want):
            self._send_want()
        self._most_in_flight, self._most_wanted = self._in_flight, self._in_flight + self._waiting
        if self._last_want is not None and self._has_changed(self._last_want):
            self._later = asyncio.get_running_loop().call_later(LULL_S, self._send_want_later)

    def _has_changed(self, last: Want) -> bool:
        return (self._most_wanted, self._most_in_flight) != (last.requests, last.in_flight)

    def _send_want(self) -> None:
        want = Want(
            self._most_wanted,
            self._most_in_flight,
            self._wanted_starts(),
            self._started,
            self._answer_s,
            self._ended,
            self._good,
            self._good_when_full,
            self._light,
            self._light_refused,
            self._heavy_refused,
        )
        if want != self._last_want:
            self._last_want = want
            self._send_message(want)

    def _send_message(self, message: ToKeeper) -> None:
        if self._send is not None:
            self._send(message)

    def _stop_timers(self) -> None:
        for timer in (self._later, self._alone_timer):
            if timer is not None:
                timer.cancel()
        self._later = self._alone_timer = None


def _nothing() -> None:
    return


def _no_pause(seconds: float, why: str) -> None:
    return
