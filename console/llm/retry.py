"""Retries: which faults are worth another try, after what wait, and when to give up.

A fault is a request's own, once another request that was sent after its first failure has been answered: then it tells
nothing of the endpoint, and the request is tried again beside the others until its tries are used up. Its waits are
random below a bound that grows fourfold from twice the usual time of an answer, and never beyond one that doubles from
`backoff_s`; so what failed together does not come back together, and a passing fault costs a quick server little.

Rate limits are waited out together in the limiter and are not counted as tries, and so is any other answer that names a
time beyond the request's own bounds. What exceeds `max_wait_s` is left to who asks, to hold more than the one call.
Waiting is never charged to a request's deadline.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import random
from typing import TypeVar

from console.config.model import Limits
from console.core.fault import Fault, FaultKind
from console.llm.endpoint import Watch
from console.llm.limiter import FAULTS_OF_AN_OUTAGE, Limiter, Slot

AnswerT = TypeVar("AnswerT")

_LONGEST_WAIT_S = 60.0
_SOON = 2.0
"""First wait after a fault of one request, in usual answer times; each further one is `_SLOWER` times as long."""
_SLOWER = 4.0
_FEWER_TRIES = {FaultKind.BAD_ANSWER: 2, FaultKind.DEADLINE: 2}
"""An answer that is no answer, or one that took the whole deadline, is asked for once more only."""
_FEWER_AT_FIRST = {FaultKind.CONNECT: 3}
"""A server that has never answered is more likely mistyped than down."""
_ABOUT_SETTINGS = (FaultKind.CONNECT, FaultKind.BAD_ANSWER)
"""A closed port and a login page, seen before any answer, say that base_url is wrong."""
_AWAY = frozenset({502, 503, 504, 529})
"""Statuses of a provider that is away; with nothing but these no request's tries are used up in an outage."""


@dataclass(slots=True)
class _RetryBudget:
    """How many of the allowed tries, and how much of the allowed waiting, one call has used up."""

    limits: Limits
    limiter: Limiter
    tries: int = 0
    charged: int = 0
    by_kind: Counter[FaultKind] = field(default_factory=Counter[FaultKind])
    together_s: float = 0.0
    """Seconds waited together with all others, since the last hold."""
    first_fault_at: float | None = None
    fails_alone: bool = False
    """Whether its faults are its own, since others succeed."""

    def learn(self, fault: Fault, slot: Slot) -> None:
        """Tell the limiter what a fault says of the endpoint, which is nothing when it is the request's own."""
        if fault.kind is FaultKind.RATE_LIMIT:
            self.limiter.throttled(slot, fault.retry_after_s)
            return
        if not fault.is_retryable:
            self.limiter.reached()
            return
        self.fails_alone = self.fails_alone or (
            self.first_fault_at is not None and self.limiter.has_answered_since(self.first_fault_at)
        )
        if self.first_fault_at is None:
            self.first_fault_at = time.monotonic()
        if not self.fails_alone:
            self.limiter.faulted(fault.retry_after_s)
            if self.waits_with_all(fault):
                self.limiter.hold(fault.retry_after_s or 0.0)

    def waits_with_all(self, fault: Fault) -> bool:
        """Whether a wait concerns the whole endpoint: by a rate limit, or by a time beyond a request's own bounds."""
        if fault.kind is FaultKind.RATE_LIMIT:
            return True
        return fault.is_retryable and not self.fails_alone and (fault.retry_after_s or 0.0) > self.longest_own_wait_s

    @property
    def longest_own_wait_s(self) -> float:
        """Seconds that a request waits by itself at most."""
        return min(_LONGEST_WAIT_S, self.limits.max_wait_s)

    def wait_after(self, fault: Fault) -> float | None:
        """Return seconds to wait before the next try; None when there is to be none."""
        if not fault.is_retryable:
            return None
        if self.waits_with_all(fault):
            pause = self.limiter.pause_s
            self.together_s += pause
            return pause if fault.retry_after_s or self.together_s <= self.limits.max_wait_s else None
        if self.limiter.down_since is not None and _is_away(fault):
            return self.limiter.pause_s if self.outage_s <= self.limits.max_outage_s else None
        self.charged += 1
        self.by_kind[fault.kind] += 1
        fewer = _FEWER_TRIES if self.limiter.is_proven else _FEWER_TRIES | _FEWER_AT_FIRST
        allowed = min(self.limits.max_tries, fewer.get(fault.kind, self.limits.max_tries))
        if self.charged >= self.limits.max_tries or self.by_kind[fault.kind] >= allowed:
            return None
        wait_s = self._longest_wait_s() * random()  # noqa: S311
        return max(min(fault.retry_after_s or 0.0, self.longest_own_wait_s), wait_s)

    def concerns_endpoint(self, fault: Fault) -> bool:
        """Whether a fault that ends a request tells of the endpoint: it never answered, or was down for too long."""
        if self.limiter.is_proven:
            return self.outage_s > self.limits.max_outage_s and _is_away(fault)
        is_long = fault.is_retryable and self.limiter.faults_in_a_row >= FAULTS_OF_AN_OUTAGE
        return fault.kind in _ABOUT_SETTINGS or is_long

    @property
    def outage_s(self) -> float:
        """Seconds since the provider went down; 0 while it is up."""
        return 0.0 if self.limiter.down_since is None else time.monotonic() - self.limiter.down_since

    def _longest_wait_s(self) -> float:
        bound = min(_LONGEST_WAIT_S, self.limits.backoff_s * 2.0 ** (self.charged - 1))
        if self.limiter.answer_s is None or self.limiter.is_in_doubt:
            return bound
        return min(bound, self.limiter.answer_s * _SOON * _SLOWER ** (self.charged - 1))


def _is_away(fault: Fault) -> bool:
    return fault.kind is FaultKind.CONNECT or fault.status in _AWAY


async def ask_until_answered(
    try_once: Callable[[int], Awaitable[AnswerT]], limiter: Limiter, limits: Limits, watch: Watch
) -> tuple[AnswerT, int]:
    """Call `try_once(number)` until it returns; return its answer and the number of tries.

    Raises:
        Fault: the last one, when it cannot or may not be tried again.
    """
    retries = _RetryBudget(limits, limiter)
    is_throttled = False
    while True:
        slot = await _slot(retries, watch, is_throttled=is_throttled)
        retries.tries += 1
        try:
            answer = await try_once(retries.tries)
            limiter.succeeded(slot)
            return answer, retries.tries
        except Fault as fault:
            retries.learn(fault, slot)
            failed = fault
        finally:
            limiter.release(slot)
        wait_s = retries.wait_after(failed)
        watch.on_failed_try(failed, wait_s)
        if wait_s is None:
            failed.is_of_endpoint = retries.concerns_endpoint(failed)
            if limiter.down_since is not None:
                failed.hint = failed.hint or "Resume the run when the provider is back, or raise limits.max_outage_s."
            raise failed
        is_throttled = retries.waits_with_all(failed)
        if not is_throttled:  # of a provider that is down the limiter knows best when it is back
            await watch.wait_to_retry(wait_s if limiter.down_since is None else 0.0)
        elif retries.together_s > limits.max_wait_s:
            retries.together_s = 0.0
            await watch.hold(failed)


async def _slot(retries: _RetryBudget, watch: Watch, *, is_throttled: bool) -> Slot:
    """Return permission to send; a pause beyond `max_wait_s` is left to who asks."""
    while True:
        try:
            return await retries.limiter.acquire(watch, max_wait_s=retries.limits.max_wait_s, is_retry=is_throttled)
        except Fault as pause:
            await watch.hold(pause)
