"""One process's part of an endpoint's limits: what its limiter may do without asking, and what it has to ask for.

Without a keeper, because the one there was has ended and the next is not there yet, everybody has an even part.
"""

import asyncio
from collections.abc import Callable

from console.llm.keeper import FromKeeper, Holds, Join, Lease, Leave, Paused, Starts, Terms, ToKeeper, Want, share_alone

_LARGE = 1 << 30
LULL_S = 0.1
"""How long less is wanted before it is said."""


class LimitShare:
    """What a limiter asks before each call, and tells after it."""

    def __init__(self, ceiling: int | None, rpm: int | None, longest_s: float) -> None:
        """Where there are limits, nothing is allowed until a keeper, or that there is none, is known."""
        self._ceiling, self._rpm, self._longest_s = ceiling, rpm, longest_s
        self._on_change: Callable[[], None] = _nothing
        self._on_pause: Callable[[float, str], None] = _no_pause
        self._send: Callable[[ToKeeper], None] | None = None
        self._lease = None if ceiling is None and rpm is None else 0
        self._processes = 1
        self._in_flight = self._waiting = 0
        self._started = self._allowed = 0
        """Starts since the keeper was joined: used, and handed out."""
        self._unanswered: int | None = None
        """Serial of the lease that the keeper does not know to be kept yet."""
        self._told: Want | None = None
        self._answer_s: float | None = None
        self._later: asyncio.TimerHandle | None = None
        self._alone_timer: asyncio.TimerHandle | None = None

    def attach(self, on_change: Callable[[], None], on_pause: Callable[[float, str], None]) -> None:
        """Serve a limiter: it is told when more may be sent, and of pauses that others have met."""
        self._on_change, self._on_pause = on_change, on_pause

    # What the limiter asks and tells.

    def room(self, in_flight: int) -> int:
        """How many calls at once may be in flight, given how many are."""
        leased = _LARGE if self._lease is None else self._lease
        return leased if self._rpm is None else min(leased, in_flight + self._allowed - self._started)

    def started(self) -> None:
        """A call is sent."""
        self._started += 1

    def note(self, in_flight: int, waiting: int, answer_s: float | None) -> None:
        """How things stand, whenever that has changed."""
        self._in_flight, self._waiting, self._answer_s = in_flight, waiting, answer_s
        if self._lease is None and self._rpm is None:
            return  # whatever is wanted may be had
        if self._unanswered is not None and self._send is not None and in_flight <= (self._lease or 0):
            self._send(Holds(self._unanswered))
            self._unanswered = None
        if (
            self._told is None
            or self._in_flight + waiting > self._told.requests
            or self._want().starts > self._told.starts
        ):
            self._tell()
        elif self._later is None and self._send is not None:
            self._later = asyncio.get_running_loop().call_later(LULL_S, self._tell)

    def widen(self, ceiling: int | None, rpm: int | None) -> None:
        """Another model of this process asks the same endpoint: the widest ceiling and the strictest rpm hold."""
        before = self._ceiling, self._rpm
        self._ceiling = max(self._ceiling, ceiling) if self._ceiling and ceiling else self._ceiling
        self._rpm = min(self._rpm, rpm) if self._rpm and rpm else self._rpm or rpm
        if (self._ceiling, self._rpm) != before and self._send is not None:
            self._send(Terms(self._ceiling, self._rpm))

    def pause(self, seconds: float, why: str) -> None:
        """The provider asks for a pause."""
        if self._send is not None:
            self._send(Paused(seconds, why))

    # What the way to the keeper says.

    def connected(self, send: Callable[[ToKeeper], None]) -> None:
        """There is a keeper, to be reached so."""
        self._stop_timers()
        self._send, self._started, self._allowed, self._told = send, 0, 0, None
        others = self._processes if self._lease != 0 or self._in_flight else 0
        send(Join(self._ceiling, self._rpm, self._longest_s, self._in_flight, others if others > 1 else 0))
        self._tell()

    def received(self, message: FromKeeper) -> None:
        """The keeper says something."""
        match message:
            case Lease(requests=requests, processes=processes, serial=serial):
                self._lease, self._processes = requests, processes
                self._unanswered = serial if requests is not None else None
                self.note(self._in_flight, self._waiting, self._answer_s)
            case Starts(total=total):
                self._allowed = total
            case Paused(seconds=seconds, why=why):
                self._on_pause(seconds, why)
        self._on_change()

    def alone(self, processes: int = 0) -> None:
        """There is no keeper, or none any more.

        Args:
            processes: how many share the limits; 0: as many as there were.
        """
        self._stop_timers()
        self._send, self._unanswered = None, None
        self._processes = processes or self._processes
        self._lease = share_alone(self._ceiling, self._processes)
        self._allowed = self._started
        if self._rpm is not None:
            self._allow_one()
        self._on_change()

    def _allow_one(self) -> None:
        """Without a keeper: an even part of the pace."""
        self._allowed = self._started + 1
        gap = 60.0 * self._processes / (self._rpm or 1)
        self._alone_timer = asyncio.get_running_loop().call_later(gap, self._allow_one)
        self._on_change()

    def leave(self) -> None:
        """The process ends in order."""
        self._stop_timers()
        if self._send is not None:
            self._send(Leave())
            self._send = None

    def _want(self) -> Want:
        wanted = self._in_flight + self._waiting
        room = _LARGE if self._lease is None else max(0, self._lease - self._in_flight)
        # A start that cannot be used yet is not asked for: they would pile up, and go out all at once.
        return Want(wanted, self._in_flight, self._started + min(self._waiting, room), self._answer_s)

    def _tell(self) -> None:
        self._later = None
        want = self._want()
        if self._send is not None and want != self._told:
            self._told = want
            self._send(want)

    def _stop_timers(self) -> None:
        for timer in (self._later, self._alone_timer):
            if timer is not None:
                timer.cancel()
        self._later = self._alone_timer = None


def _nothing() -> None:
    return


def _no_pause(seconds: float, why: str) -> None:
    return
