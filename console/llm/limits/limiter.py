"""Adaptive concurrency and rate limits of an endpoint, learnt from the endpoint's own answers.

All conversations with one (address, key) share one limiter, so a 429 to one of them holds back all (specs: reliability
§1.3). A rate limit pauses everybody until the provider's own time, and `learned_limit` says what is sent from then on.

Other faults lower nothing while calls succeed: `retry` tells which of them are a request's own, and only the others are
learnt from here. Three of those in a row, without an answer between, make the endpoint a suspect: no more than three
calls at once are risked; after twenty in a row a provider that answered before is down: a single request probes, after
ever longer pauses, until it is back. The first good answer ends both. The numbers were chosen in virtual time, against
providers that allow so many requests a second or at once, or fail at random or for some requests
(tests/llm/test_storm.py, perf/bench_limiters.py).
"""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from random import random
from weakref import WeakValueDictionary

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind
from console.core.live import EndpointState
from console.llm.endpoint import Watch
from console.llm.limits.keeper import AT_PACE, AT_RPM
from console.llm.limits.keeper_socket import endpoint_digest
from console.llm.limits.learned import LearnedLimit, Learner, widest
from console.llm.limits.share import LimitShare

FAULTS_UNTIL_SUSPECT = 3
CALLS_WHILE_SUSPECT = 3
"""Calls at once that are risked while nothing succeeds."""
FAULTS_UNTIL_DOWN = 20
_LONGEST_BACKOFF_S = 60.0
_LONGEST_PROBE_S = 30.0
_RATE_LIMITED = "rate limited"
_ANSWER_TIME_WEIGHT = 0.1
"""How much the last good answer counts in the usual time of an answer."""


@dataclass(slots=True)
class Slot:
    """Permission to send one request."""

    started: float
    cuts: int
    """Episodes of rate limits that were known then."""


@dataclass(slots=True, eq=False)
class _Waiter:
    granted: "asyncio.Future[Slot]"
    watch: Watch
    max_wait_s: float


class Limiter:
    """Adaptive concurrency limit and rate limit of one endpoint. Not thread-safe: it belongs to one event loop."""

    def __init__(
        self,
        name: str,
        *,
        ceiling: int | None = None,
        rpm: int | None = None,
        backoff_s: float = 1.0,
        share: LimitShare | None = None,
    ) -> None:
        """Set the limits.

        Args:
            name: what the endpoint is called in views.
            ceiling: requests at once that a person allowed; None leaves it to experience.
            rpm: requests started per minute; they are spread evenly.
            backoff_s: first pause after a rate limit without a time, and between probes of a provider that is down.
            share: what has a say where other processes ask the same endpoint; its limits are left to it.
        """
        self._share = share
        self._own_limit = LearnedLimit(ceiling)
        self._learner: Learner = share or self._own_limit
        if share is not None:
            rpm = None
            share.attach(self._grant_waiting, self._pause_with_others)
        self.name = name
        self._ceiling = ceiling
        self._gap_s = 60.0 / rpm if rpm else 0.0
        self._backoff_s = backoff_s
        self._in_flight = 0
        self._waiters: deque[_Waiter] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._not_before = self._next_start = 0.0
        self._why = ""
        self._throttled = self._episodes = self._faults_in_a_row = self._probes = 0
        self._proven = False
        self._down_since: float | None = None
        self._last_good_start = -inf
        self._answer_s: float | None = None

    @property
    def is_proven(self) -> bool:
        """Whether there has been a good answer."""
        return self._proven

    @property
    def down_since(self) -> float | None:
        """When the provider went down (monotonic clock); None while it is up."""
        return self._down_since

    @property
    def faults_in_a_row(self) -> int:
        """Faults since the last good answer, without those that are a request's own."""
        return self._faults_in_a_row

    @property
    def is_suspect(self) -> bool:
        """Whether nothing succeeds at present."""
        return self._faults_in_a_row >= FAULTS_UNTIL_SUSPECT

    @property
    def answer_s(self) -> float | None:
        """Usual seconds from sending to a whole answer; None before the first."""
        return self._answer_s

    def has_answered_since(self, moment: float) -> bool:
        """Whether a request that was sent after a moment of the monotonic clock has got a good answer."""
        return self._last_good_start > moment

    @property
    def has_room(self) -> bool:
        """Whether a request can be sent at once."""
        return not self._waiters and self._may_start(time.monotonic())

    @property
    def is_joining(self) -> bool:
        """Whether what may be sent is about to be learnt from whoever shares the limits."""
        return self._share is not None and self._share.is_joining

    @property
    def load(self) -> int:
        """Requests in flight, and those that wait to be sent."""
        return self._in_flight + len(self._waiters)

    @property
    def pause_s(self) -> float:
        """How long nothing will be sent, in seconds from now."""
        return max(0.0, self._not_before - time.monotonic())

    def state(self) -> EndpointState:
        """Return what views show of the limiter."""
        pause = self.pause_s
        return EndpointState(
            name=self.name,
            in_flight=self._in_flight,
            limit=self._capacity(),
            waiting=len(self._waiters),
            paused_until=time.time() + pause if pause else None,
            why=self._reason(pause),
            throttled=self._throttled,
            faults_in_a_row=self._faults_in_a_row,
        )

    def _reason(self, pause: float) -> str:
        if pause or self._down_since is not None:
            return self._why
        if self.is_suspect:
            return f"the last {self._faults_in_a_row} calls failed, {CALLS_WHILE_SUSPECT} at once until one succeeds"
        return ""

    async def acquire(self, watch: Watch, *, max_wait_s: float, is_retry: bool = False) -> Slot:
        """Wait for permission to send a request.

        Args:
            watch: told why, if there is a wait.
            max_wait_s: a pause longer than this is a fault at once.
            is_retry: this call was refused by a rate limit, so it goes ahead of others.

        Raises:
            Fault: `rate_limit`, with the time to wait, when the provider asks for more than `max_wait_s`.
        """
        if self.has_room:
            return self._grant()
        if self._down_since is None and self.pause_s > max_wait_s:
            raise self._too_long()
        waiter = _Waiter(asyncio.get_running_loop().create_future(), watch, max_wait_s)
        (self._waiters.appendleft if is_retry else self._waiters.append)(waiter)
        self._report_wait(waiter)
        self._grant_waiting()
        self._update_share()
        try:
            slot = await waiter.granted
        except asyncio.CancelledError:
            self._abandon(waiter)
            raise
        watch.on_wait("", None)
        return slot

    def release(self, slot: Slot) -> None:
        """Give the slot back; every `acquire` has exactly one `release`."""
        self._in_flight -= 1
        self._learner.ended()
        self._grant_waiting()
        self._update_share()

    def succeeded(self, slot: Slot) -> None:
        """Learn from a good answer, before its slot is released."""
        self._proven = True
        self.reached()
        self._last_good_start = max(self._last_good_start, slot.started)
        took = time.monotonic() - slot.started
        self._answer_s = (
            took if self._answer_s is None else self._answer_s + _ANSWER_TIME_WEIGHT * (took - self._answer_s)
        )
        if slot.cuts >= self._learner.cuts:
            self._episodes = 0
        self._learner.succeeded(is_full=self._in_flight >= self._learner.limit)

    def reached(self) -> None:
        """Learn that the provider answered, be it with a refusal: it is not down."""
        self._faults_in_a_row = self._probes = 0
        if self._down_since is not None:
            self._down_since, self._not_before = None, 0.0
            self._learner.forget_passed()

    def throttled(self, slot: Slot, retry_after_s: float | None) -> None:
        """Learn from a rate limit: pause everybody, and send less at once from now on."""
        self._throttled += 1
        self.reached()
        if slot.cuts >= self._learner.cuts:
            self._episodes += 1
        self._learner.throttled(self._in_flight, slot.cuts, time.monotonic(), self._not_before)
        if retry_after_s is None or retry_after_s <= 0:
            retry_after_s = self._backoff(self._episodes - 1, _LONGEST_BACKOFF_S) * (0.5 + random() / 2)  # noqa: S311
        self._pause(retry_after_s, _RATE_LIMITED)
        if self._share is not None:
            self._share.pause(retry_after_s, _RATE_LIMITED)

    def faulted(self, retry_after_s: float | None = None) -> None:
        """Learn from any other retryable fault that is not known to be the request's own: many mean an outage.

        Args:
            retry_after_s: when the provider asks to come back; believed of the endpoint once nothing succeeds.
        """
        self._faults_in_a_row += 1
        if self.is_suspect and retry_after_s:
            self._pause(retry_after_s, "the provider asks to wait")
        if self._proven and self._faults_in_a_row >= FAULTS_UNTIL_DOWN:
            if self._down_since is None:
                self._down_since = time.monotonic()
            if not self.pause_s:  # of requests that fail together only the first counts as a probe
                self._probes += 1
                self._pause(self._backoff(self._probes - 1, _LONGEST_PROBE_S), "the provider is down")

    def pause(self, seconds: float) -> None:
        """Send nothing for as long as the provider asks: longer than one request may wait by itself."""
        self._pause(seconds, "the provider asks to wait")
        if self._share is not None:
            self._share.pause(seconds, "the provider asks to wait")

    def _pause_with_others(self, seconds: float, why: str) -> None:
        """Wait as a process does that asks the same endpoint; a rate limit that it has met is met by all."""
        if why == _RATE_LIMITED and not self.pause_s:
            self._episodes += 1
        self._pause(seconds, why)

    def share(self, *, ceiling: int | None, rpm: int | None) -> None:
        """Let another model of the same endpoint in: the widest ceiling and the strictest rpm hold."""
        self._ceiling = widest(self._ceiling, ceiling)
        self._own_limit.allow(self._ceiling)
        if self._share is not None:
            self._share.widen(ceiling, rpm)
        elif rpm is not None:
            self._gap_s = max(self._gap_s, 60.0 / rpm)

    def retry_now(self) -> None:
        """Forget a pause, and the pace."""
        self._not_before = self._next_start = 0.0
        self._episodes = self._probes = 0
        self._learner.forget_pace()
        self._grant_waiting()

    def _backoff(self, step: int, longest: float) -> float:
        return min(longest, self._backoff_s * 2.0 ** min(max(step, 0), 20))

    def _capacity(self) -> int:
        limit = min(self._risked, self._learner.limit)
        return limit if self._share is None else min(limit, self._share.room(self._in_flight))

    @property
    def _risked(self) -> int:
        """Calls at once that may be risked, whatever the endpoint takes."""
        if self._down_since is not None:
            return 1
        return CALLS_WHILE_SUSPECT if self.is_suspect else sys.maxsize

    def _update_share(self) -> None:
        if self._share is not None:
            waiting = min(len(self._waiters), max(0, self._risked - self._in_flight))
            self._share.note(self._in_flight, waiting, self._answer_s)

    def _ready_at(self) -> float:
        return max(self._not_before, self._next_start)

    def _may_start(self, now: float) -> bool:
        return self._in_flight < self._capacity() and now >= self._ready_at()

    def _grant(self) -> Slot:
        now = time.monotonic()
        self._in_flight += 1
        if self._share is not None:
            self._share.started()
            self._update_share()
        if gap_s := max(self._gap_s, self._learner.pace_s):
            self._next_start = max(now, self._next_start) + gap_s
        return Slot(now, self._learner.cuts)

    def _grant_waiting(self) -> None:
        """Let waiting calls go as far as the rules allow, and come back when time allows more.

        The clock is read once a round: a timer may fire a moment early, and must then be set again.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiters and self._in_flight < self._capacity():
            if (delay := self._ready_at() - time.monotonic()) > 0:
                self._timer = asyncio.get_running_loop().call_later(delay, self._grant_waiting)
                return
            waiter = self._waiters.popleft()
            if not waiter.granted.done():
                waiter.granted.set_result(self._grant())

    def _abandon(self, waiter: _Waiter) -> None:
        """Forget a cancelled call; leave that it was given in the same moment goes back."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)
            self._update_share()
        elif waiter.granted.done() and not waiter.granted.cancelled() and waiter.granted.exception() is None:
            self.release(waiter.granted.result())

    def _pause(self, seconds: float, why: str) -> None:
        until = time.monotonic() + seconds
        if until <= self._not_before:
            return
        self._not_before, self._why = until, why
        for waiter in list(self._waiters):
            if self._down_since is None and seconds > waiter.max_wait_s:
                self._waiters.remove(waiter)
                if not waiter.granted.done():
                    waiter.granted.set_exception(self._too_long())
            else:
                self._report_wait(waiter)
        self._grant_waiting()

    def _report_wait(self, waiter: _Waiter) -> None:
        pause = self.pause_s
        if pause:
            waiter.watch.on_wait(self._why, time.time() + pause)
        elif self._next_start > time.monotonic():
            learnt = self._learner.pace_s > self._gap_s
            waiter.watch.on_wait(AT_PACE if learnt else AT_RPM, None)
        elif self._share is not None and self._share.why_paced and self._in_flight < self._learner.limit:
            waiter.watch.on_wait(self._share.why_paced, None)
        else:
            waiter.watch.on_wait(self._reason(pause) or "at the limit of requests at once", None)

    def _too_long(self) -> Fault:
        pause = self.pause_s
        return Fault(
            FaultKind.RATE_LIMIT,
            f"{self.name} asks to wait {pause:.0f} s, longer than allowed",
            retry_after_s=pause,
            hint="Resume the run later, or raise limits.max_wait_s.",
        )


ShareFactory = Callable[[str, LimitShare], None]
"""Connects a part of an endpoint's limits, by the endpoint's digest, to who keeps them."""


class LimiterRegistry:
    """Limiters by (address, key): everybody who asks the same endpoint gets the same one; unused ones are dropped."""

    def __init__(self) -> None:
        self._limiters: WeakValueDictionary[tuple[str, int], Limiter] = WeakValueDictionary()
        self.share_with_others: ShareFactory | None = None
        """Gives the limiter of an endpoint its part of what all processes may do; None: this process is alone."""

    def limiter(
        self,
        name: str,
        address: str,
        key: str,
        *,
        ceiling: int | None,
        rpm: int | None,
        backoff_s: float,
        longest_s: float = 600.0,
        is_shared: bool = False,
    ) -> Limiter:
        """Return the limiter of an address and key; the strictest `rpm` and the widest `ceiling` asked for hold.

        Args:
            name: of the endpoint, for views.
            address: where it is.
            key: with which it is asked.
            ceiling: see `Limiter`.
            rpm: see `Limiter`.
            backoff_s: see `Limiter`.
            longest_s: how long a call may last.
            is_shared: whether other processes may ask the same endpoint.
        """
        endpoint_key = (address, hash(key))
        limiter = self._limiters.get(endpoint_key)
        if limiter is None:
            share = self._share(address, key, ceiling, rpm, longest_s) if is_shared else None
            limiter = Limiter(name, ceiling=ceiling, rpm=rpm, backoff_s=backoff_s, share=share)
            self._limiters[endpoint_key] = limiter
        else:
            limiter.share(ceiling=ceiling, rpm=rpm)
        return limiter

    def _share(
        self, address: str, key: str, ceiling: int | None, rpm: int | None, longest_s: float
    ) -> LimitShare | None:
        """Return a part of the endpoint's limits, of those that somebody has set and of those that are learnt."""
        if self.share_with_others is None:
            return None
        share = LimitShare(ceiling, rpm, longest_s)
        self.share_with_others(endpoint_digest(address, key), share)
        return share


LIMITERS = LimiterRegistry()
"""The limiters of this process."""


def limiter_of(model: ModelConfig, address: str, key: str | None) -> Limiter:
    """Return the limiter that all models of this address and key share."""
    limits = model.limits
    ceiling = limits.concurrency
    return LIMITERS.limiter(
        model.name,
        address,
        key or "",
        ceiling=ceiling,
        rpm=limits.rpm,
        backoff_s=limits.backoff_s,
        longest_s=limits.timeout_s,
        is_shared=True,
    )
