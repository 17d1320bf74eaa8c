"""The three time limits of a request: in total, until the first content, and between contents.

SDK timeouts provide none of these: they never fire while a server sends pings or single bytes (specs: reliability
§0.3). Here only content resets the clock, and one timer serves all three limits. Time in which this program was too
busy to read is not held against the server: if the timer of the first two waits fires late, they are extended by the
delay, but by at most `_LONGEST_PUT_OFF_S` in total. The total is measured by the clock alone: it is never extended, and
it is checked with every event, since a server that keeps this program busy also keeps the timer from firing.
"""

import asyncio
from collections.abc import Callable
from math import inf
from types import TracebackType

import msgspec

from console.config.model import Limits
from console.core.fault import Fault, FaultKind

_LAST_MARK_S = 5.0
"""Longest wait, in seconds, for usage and the end mark after the finish reason."""
_LATE_S = 0.02
"""Delay in seconds at which the event loop counts as busy, so that content may be unread."""
_LONGEST_PUT_OFF_S = 5.0
"""Maximum total delay, in seconds, by which late timers extend one wait for content."""


class TimeLimits:
    """Time limits of a model at one address; the first request that is cut in silence lengthens them."""

    def __init__(self, limits: Limits) -> None:
        self._configured = self.current = limits

    def learn(self, fault: Fault) -> None:
        """Allow twice the time for the first token from now on, if a fault shows that it was too short."""
        if fault.is_silent and self.current is self._configured:
            more_s = self.current.first_token_s
            longer = {"first_token_s": 2 * more_s, "timeout_s": self.current.timeout_s + more_s}
            self.current = msgspec.structs.replace(self.current, **longer)


class Deadlines:
    """Limits the time of an `async with` block; exceeding a limit raises a Fault."""

    def __init__(self, limits: Limits, *, streamed: bool, partial: Callable[[], str] = str) -> None:
        """Set the limits; without streaming only the total applies.

        Args:
            limits: configured seconds.
            streamed: whether content arrives piece by piece.
            partial: returns the partial answer, for the fault.
        """
        self._limits, self._partial = limits, partial
        self._first_s = limits.first_token_s if streamed else inf
        self._idle_s = limits.idle_s if streamed else inf
        self._loop = asyncio.get_running_loop()
        self._timeout = asyncio.timeout_at(None)
        self._timer: asyncio.TimerHandle | None = None
        self._began = self._end = self._due = self._put_off_s = 0.0
        self._first: float | None = None

    async def __aenter__(self) -> "Deadlines":
        self._began = self._loop.time()
        self._end = self._began + self._limits.timeout_s
        await self._timeout.__aenter__()
        self._due = min(self._end, self._began + self._first_s)
        self._arm(self._due)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the clock.

        Raises:
            Fault: `deadline` or `stalled`, if a limit ended the block.
        """
        if self._timer is not None:
            self._timer.cancel()
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise self._fault() from None

    def content(self, *, final: bool = False) -> None:
        """Record new content; `final` shortens the wait for the rest."""
        now = self._loop.time()
        if self._first is None:
            self._first = now
        self._put_off_s = 0.0
        self._due = min(self._end, now + (min(self._idle_s, _LAST_MARK_S) if final else self._idle_s))
        if self._timer is not None and self._due < self._timer.when():
            self._timer.cancel()
            self._arm(self._due)

    def check(self) -> None:
        """Check the total by the clock, for use where the program may be too busy for the timer.

        Raises:
            Fault: `deadline`, if the time is up.
        """
        if self._loop.time() >= self._end:
            raise self._fault()

    def _arm(self, at: float) -> None:
        self._timer = self._loop.call_at(at, self._come_due, at)

    def _come_due(self, expected: float) -> None:
        """End the block, unless content arrived meanwhile or may be unread."""
        now = self._loop.time()
        late = now - expected
        if self._due > now:
            self._arm(self._due)
        elif late > _LATE_S and self._put_off_s < _LONGEST_PUT_OFF_S and now < self._end:
            put_off_s = min(late, _LONGEST_PUT_OFF_S - self._put_off_s, self._end - now)
            self._put_off_s += put_off_s
            self._arm(now + put_off_s)
        else:
            self._timeout.reschedule(now)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the request was sent."""
        return self._loop.time() - self._began

    @property
    def first_token_s(self) -> float | None:
        """Seconds from sending to the first content; None if there is no content yet."""
        return None if self._first is None else self._first - self._began

    def _fault(self) -> Fault:
        limits = self._limits
        if self._loop.time() >= self._end:
            text, hint = f"no whole answer within {limits.timeout_s:g} s (timeout_s)", "Raise limits.timeout_s."
            fault = Fault(FaultKind.DEADLINE, text, partial=self._partial(), hint=hint)
        elif self._first is None:
            text = f"no first token within {limits.first_token_s:g} s (first_token_s)"
            hint = "Raise limits.first_token_s, or lower -c if the server works on few requests at once."
            fault = Fault(FaultKind.SILENT, text, hint=hint)
        else:
            text, hint = f"no new text for {limits.idle_s:g} s (idle_s)", "Raise limits.idle_s."
            fault = Fault(FaultKind.STALLED, text, partial=self._partial(), hint=hint)
        fault.is_silent = self._first is None
        return fault
