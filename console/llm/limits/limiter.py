"""Adaptive concurrency and rate limits of an endpoint, learned from its answers.

All conversations with one (address, key) share one limiter (specs: reliability §1.3). A request that meets a rate limit
waits by itself for the time the provider names. If several requests sent one after another are refused, all wait; so
they do at the next few rate limits, except those expected by `chance`. `learned` decides how many are sent, and at what
pace.

Other faults lower nothing while calls succeed: `retry` decides which of them belong to a single request, and only the
rest are counted here. After three of those in a row the endpoint is suspect, and at most three calls run at once. After
twenty in a row a provider that has answered before is down, and single requests probe it after ever longer pauses. The
first good answer ends both states. The numbers were chosen in virtual time, against providers that limit requests per
second or at once, or fail at random or for some requests (tests/llm/test_storm.py, perf/bench_pacing.py,
perf/bench_limiters.py).
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
from console.llm.limits.chance import Refusal, RefusedCalls, Tolerance, are_together
from console.llm.limits.keeper import AT_PACE, AT_RPM
from console.llm.limits.keeper_socket import endpoint_digest
from console.llm.limits.learned import LearnedLimit, Learner, widest
from console.llm.limits.share import LimitShare

FAULTS_UNTIL_SUSPECT = 3
CALLS_WHILE_SUSPECT = 3
"""Concurrent calls while nothing succeeds."""
FAULTS_UNTIL_DOWN = 20
_LONGEST_BACKOFF_S = 60.0
_LONGEST_PROBE_S = 30.0
_RATE_LIMITED = "rate limited"
_ASKED_TO_WAIT = "the provider asks to wait"
_SHARED_PAUSES = 4
"""Number of rate limits that pause all calls after several refusals in a row, until the next refusals in a row."""
_SLOT_GROWTH = 0.125
"""Growth of the concurrency per good answer after calls that got none in time."""
_ANSWER_TIME_WEIGHT = 0.1
"""Weight of the latest good answer in the moving average of answer times."""


@dataclass(slots=True)
class Slot:
    """Permission to send one request."""

    started: float
    cuts: int
    """Number of rate-limit episodes known when it was granted."""
    is_light: bool = False
    """True if it was granted while clearly fewer calls were allowed than when one was refused; see `chance`."""
    number: int = 0
    """Number of the request, in the order of sending."""


@dataclass(slots=True, eq=False)
class _Waiter:
    granted: "asyncio.Future[Slot]"
    watch: Watch
    max_wait_s: float


class Limiter:
    """Concurrency and rate limits of one endpoint. Not thread-safe: it belongs to one event loop."""

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
            name: name of the endpoint in views.
            ceiling: configured limit of concurrent requests; None to learn it.
            rpm: limit of requests started per minute; they are spread evenly.
            backoff_s: first pause after a rate limit without a time, and between probes of an unavailable provider.
            share: this process's share of the limits, if other processes use the same endpoint.
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
        self._throttled = self._episodes = self._probes = 0
        self._sent = self._shared_pauses = 0
        self._tolerance, self._refused = Tolerance(), RefusedCalls()
        self._last_good_start = self._last_good_end = self._retried_at = -inf
        self._slots: float = inf
        """Concurrent calls since one got no answer in time; infinite before."""
        self._knows_slots = False
        self._queued_at = -inf
        self.is_proven = False
        """True after the first good answer."""
        self.faults_in_a_row = 0
        """Faults since the last good answer, except those of single requests."""
        self.down_since: float | None = None
        """Start of an outage (monotonic clock); None while the provider is up."""
        self.answer_s: float | None = None
        """Usual seconds from sending to a whole answer; None before the first."""

    @property
    def is_suspect(self) -> bool:
        """True while nothing succeeds."""
        return self.faults_in_a_row >= FAULTS_UNTIL_SUSPECT

    def has_answered_since(self, moment: float) -> bool:
        """Return True if a request sent after a time of the monotonic clock has succeeded."""
        return self._last_good_start > moment

    def is_overruled(self, slot: Slot) -> bool:
        """Return True if `retry_now` came after the request was sent, which cancels the wait imposed on it."""
        return slot.started < self._retried_at

    @property
    def has_room(self) -> bool:
        """True if a request can be sent at once."""
        return not self._waiters and self._may_start(time.monotonic())

    @property
    def is_joining(self) -> bool:
        """True while waiting for this process's share of the limits."""
        return self._share is not None and self._share.is_joining

    @property
    def load(self) -> int:
        """Requests in flight or waiting."""
        return self._in_flight + len(self._waiters)

    @property
    def pause_s(self) -> float:
        """Seconds until the current pause ends; 0 if there is none."""
        return max(0.0, self._not_before - time.monotonic())

    def state(self) -> EndpointState:
        pause = self.pause_s
        return EndpointState(
            name=self.name,
            in_flight=self._in_flight,
            limit=self._capacity(),
            waiting=len(self._waiters),
            paused_until=time.time() + pause if pause else None,
            why=self._reason(pause),
            throttled=self._throttled,
            faults_in_a_row=self.faults_in_a_row,
            is_slowed=self._is_slowed and not pause,
        )

    @property
    def _is_slowed(self) -> bool:
        """True if requests wait because of what was learned from rate limits."""
        if not self._throttled or not self._waiters or self._risked <= self._in_flight:
            return False
        is_lowered = self._learner.can_grow and self._learner.limit <= self._in_flight
        return is_lowered or self._learner.pace_s > self._gap_s

    def _reason(self, pause: float) -> str:
        if pause or self.down_since is not None:
            return self._why
        if self.is_suspect:
            return f"the last {self.faults_in_a_row} calls failed, {CALLS_WHILE_SUSPECT} at once until one succeeds"
        if self._waiters and self._in_flight >= self._slots:
            return f"no first token in time, so {int(self._slots)} at once (-c {int(self._slots)})"
        return ""

    async def acquire(self, watch: Watch, *, max_wait_s: float, is_retry: bool = False) -> Slot:
        """Wait for permission to send a request.

        Args:
            watch: notified of waits.
            max_wait_s: a longer pause raises a fault at once.
            is_retry: True if a rate limit refused this call before; it goes ahead of others.

        Raises:
            Fault: `rate_limit`, if the provider asks for a longer pause than `max_wait_s`.
        """
        if self.has_room:
            return self._grant()
        if self.down_since is None and self.pause_s > max_wait_s:
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
        """Return a slot; every `acquire` needs exactly one `release`."""
        self._in_flight -= 1
        self._learner.ended()
        self._grant_waiting()
        self._update_share()

    def succeeded(self, slot: Slot) -> None:
        """Record a good answer; call this before releasing its slot."""
        self.is_proven = True
        self.reached()
        self._last_good_start = max(self._last_good_start, slot.started)
        self._last_good_end = time.monotonic()
        if not self._knows_slots:
            self._slots += _SLOT_GROWTH
        took = self._last_good_end - slot.started
        self.answer_s = took if self.answer_s is None else self.answer_s + _ANSWER_TIME_WEIGHT * (took - self.answer_s)
        if slot.started >= self._not_before:
            self._episodes = 0
        if by_chance := self._refused.answered(slot.number, self._learner.chance):
            self._learner.refused(by_chance, 0)
        self._learner.succeeded(is_full=self._in_flight >= self._learner.limit)

    def reached(self) -> None:
        """Record that the provider answered, if only with a refusal, so it is not down."""
        self.faults_in_a_row = self._probes = 0
        if self.down_since is not None:
            self.down_since, self._not_before = None, 0.0
            self._learner.forget_passed()

    def throttled(self, slot: Slot, retry_after_s: float | None, *, longest_alone_s: float = inf) -> float:
        """Record a rate limit; return the seconds that the request must wait by itself, or 0 if all wait.

        Args:
            slot: slot of the refused request.
            retry_after_s: wait the provider asks for.
            longest_alone_s: a longer wait holds for all requests.
        """
        self._throttled += 1
        self.reached()
        row, chance = self._refused.add(slot.number, is_light=slot.is_light), self._learner.chance
        if not slot.is_light:
            self._learner.refused(0, 1)
        if self._tolerance.accepts(row, chance):
            self._shared_pauses = 0
        else:
            self._shared_pauses = _SHARED_PAUSES if are_together(row, chance) else self._shared_pauses - 1
            refusal = Refusal(slot.cuts, slot.is_light, row)
            self._learner.throttled(self._in_flight, refusal, time.monotonic(), self._not_before)
        if self.is_overruled(slot):
            return 0.0
        is_shared = self._shared_pauses > 0 or (retry_after_s or 0.0) > longest_alone_s
        if is_shared and slot.started >= self._not_before:
            self._episodes += 1
        if retry_after_s is None or retry_after_s <= 0:
            step = self._episodes - 1 if is_shared else 0
            retry_after_s = self._backoff(step, _LONGEST_BACKOFF_S) * (0.5 + random() / 2)  # noqa: S311
        if not is_shared:
            return retry_after_s
        self._refused.paused()
        self._pause(retry_after_s, _RATE_LIMITED)
        if self._share is not None:
            self._share.pause(retry_after_s, _RATE_LIMITED)
        return 0.0

    def faulted(self, retry_after_s: float | None = None) -> None:
        """Record a retryable fault of the endpoint; many in a row mean an outage.

        Args:
            retry_after_s: wait the provider asks for; respected only while nothing succeeds.
        """
        self.faults_in_a_row += 1
        if self.is_suspect and retry_after_s:
            self._pause(retry_after_s, _ASKED_TO_WAIT)
        if self.is_proven and self.faults_in_a_row >= FAULTS_UNTIL_DOWN:
            if self.down_since is None:
                self.down_since = time.monotonic()
            if not self.pause_s:  # of requests that fail together, only the first counts as a probe
                self._probes += 1
                self._pause(self._backoff(self._probes - 1, _LONGEST_PROBE_S), "the provider is down")

    def was_queued(self, slot: Slot, at_once: int | None) -> bool:
        """Send fewer at once after a call without any answer; return True if it may only have waited in a queue.

        Args:
            slot: slot of the call.
            at_once: number of calls that the server works on at once, if it says so.
        """
        if slot.started < self._queued_at:
            return True
        if self._in_flight <= (at_once or 1):
            return False
        self._queued_at = time.monotonic()
        self._knows_slots = at_once is not None
        self._slots = at_once or max(1, self._in_flight // 2)
        return self._knows_slots or self._last_good_end > slot.started

    def pause(self, seconds: float) -> None:
        """Pause all calls for as long as the provider asks."""
        self._pause(seconds, _ASKED_TO_WAIT)
        if self._share is not None:
            self._share.pause(seconds, _ASKED_TO_WAIT)

    def _pause_with_others(self, seconds: float, why: str) -> None:
        """Pause because another process has paused; its rate limits count here as well."""
        if why == _RATE_LIMITED:
            self._episodes += not self.pause_s
            self._shared_pauses = max(self._shared_pauses, 1)
        self._pause(seconds, why)

    def share(self, *, ceiling: int | None, rpm: int | None) -> None:
        """Add the limits of another model of the same endpoint; the widest ceiling and the strictest rpm apply."""
        self._ceiling = widest(self._ceiling, ceiling)
        self._own_limit.allow(self._ceiling)
        if self._share is not None:
            self._share.widen(ceiling, rpm)
        elif rpm is not None:
            self._gap_s = max(self._gap_s, 60.0 / rpm)

    def retry_now(self) -> None:
        """End the pause and forget the pace; refusals of requests now in flight cause no pause."""
        self._retried_at = time.monotonic()
        self._not_before = self._next_start = 0.0
        self._episodes = self._probes = 0
        self._learner.forget_pace()
        self._grant_waiting()

    def _backoff(self, step: int, longest: float) -> float:
        return min(longest, self._backoff_s * 2.0 ** min(max(step, 0), 20))

    def _capacity(self) -> int:
        limit = min(self._risked, self._learner.limit, int(min(self._slots, sys.maxsize)))
        return limit if self._share is None else min(limit, self._share.room(self._in_flight))

    @property
    def _risked(self) -> int:
        """Concurrency limit due to faults, regardless of the learned limit."""
        if self.down_since is not None:
            return 1
        return CALLS_WHILE_SUSPECT if self.is_suspect else sys.maxsize

    def _update_share(self) -> None:
        if self._share is not None:
            waiting = min(len(self._waiters), max(0, self._risked - self._in_flight))
            self._share.note(self._in_flight, waiting, self.answer_s)

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
        self._learner.sent()
        self._tolerance.sent(self._learner.chance)
        self._sent += 1
        return Slot(now, self._learner.cuts, self._learner.is_light, self._sent)

    def _grant_waiting(self) -> None:
        """Start waiting calls as far as the limits allow, and set a timer for the rest.

        The clock is read in each round: a timer that fires early must be set again.
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
        """Remove a canceled call; a slot granted concurrently is returned."""
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
            if self.down_since is None and seconds > waiter.max_wait_s:
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
            waiter.watch.on_wait(AT_PACE if self._learner.pace_s > self._gap_s else AT_RPM, None)
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
"""Connects the share of an endpoint, named by its digest, to the keeper."""


class LimiterRegistry:
    """Limiters by (address, key): all models of an endpoint share one; unused ones are dropped."""

    def __init__(self) -> None:
        self._limiters: WeakValueDictionary[tuple[str, int], Limiter] = WeakValueDictionary()
        self.share_with_others: ShareFactory | None = None
        """Connects new limiters to other processes' limits; None if this process is alone."""

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
        """Return the limiter of an address and key; the widest `ceiling` and the strictest `rpm` apply.

        Args:
            name: name of the endpoint in views.
            address: address of the endpoint.
            key: API key.
            ceiling: see `Limiter`.
            rpm: see `Limiter`.
            backoff_s: see `Limiter`.
            longest_s: maximum duration of a call.
            is_shared: True if other processes may use the same endpoint.
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
        if self.share_with_others is None:
            return None
        share = LimitShare(ceiling, rpm, longest_s)
        self.share_with_others(endpoint_digest(address, key), share)
        return share


LIMITERS = LimiterRegistry()
"""The limiters of this process."""


def limiter_of(model: ModelConfig, address: str, key: str | None) -> Limiter:
    """Return the limiter shared by all models of this address and key."""
    limits = model.limits
    return LIMITERS.limiter(
        model.name,
        address,
        key or "",
        ceiling=limits.concurrency,
        rpm=limits.rpm,
        backoff_s=limits.backoff_s,
        longest_s=limits.timeout_s,
        is_shared=True,
    )
