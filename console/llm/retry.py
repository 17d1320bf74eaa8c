"""Retries: which faults are worth another try, after what wait, and when to give up.

Rate limits are waited out together in the limiter and are not counted as tries; other retryable faults wait a random
time below a doubling bound, so that conversations that failed together do not come back together. Waiting is never
charged to a request's deadline.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import random
from typing import TypeVar

from console.config.model import Limits
from console.core.fault import Fault, FaultKind
from console.llm.endpoint import Watch
from console.llm.limiter import Limiter

AnswerT = TypeVar("AnswerT")

_LONGEST_WAIT_S = 60.0
_FEWER_TRIES = {FaultKind.BAD_ANSWER: 2, FaultKind.DEADLINE: 2}
"""An answer that is no answer, or one that took the whole deadline, is asked for once more only."""
_FEWER_AT_FIRST = {FaultKind.CONNECT: 3}
"""A server that has never answered is more likely mistyped than down."""
_ABOUT_SETTINGS = (FaultKind.CONNECT, FaultKind.BAD_ANSWER)
"""A closed port and a login page, seen before any answer, say that base_url is wrong."""


@dataclass(slots=True)
class _RetryBudget:
    """How many of the allowed tries, and how much of the allowed waiting, one call has used up."""

    limits: Limits
    limiter: Limiter
    tries: int = 0
    charged: int = 0
    by_kind: Counter[FaultKind] = field(default_factory=Counter[FaultKind])
    rate_limited_s: float = 0.0

    def wait_after(self, fault: Fault) -> float | None:
        """Return seconds to wait before the next try; None when there is to be none."""
        if not fault.is_retryable:
            return None
        if fault.kind is FaultKind.RATE_LIMIT:
            pause = self.limiter.pause_s
            self.rate_limited_s += pause
            return pause if self.rate_limited_s <= self.limits.max_wait_s else None
        down_since = self.limiter.down_since
        if down_since is not None:
            lasted = time.monotonic() - down_since
            return self.limiter.pause_s if lasted <= self.limits.max_outage_s else None
        self.charged += 1
        self.by_kind[fault.kind] += 1
        fewer = _FEWER_TRIES if self.limiter.is_proven else _FEWER_TRIES | _FEWER_AT_FIRST
        allowed = min(self.limits.max_tries, fewer.get(fault.kind, self.limits.max_tries))
        if self.charged >= self.limits.max_tries or self.by_kind[fault.kind] >= allowed:
            return None
        bound = min(_LONGEST_WAIT_S, self.limits.backoff_s * 2.0 ** (self.charged - 1))
        return max(fault.retry_after_s or 0.0, bound * random())  # noqa: S311


async def ask_until_answered(
    try_once: Callable[[int], Awaitable[AnswerT]], limiter: Limiter, limits: Limits, watch: Watch
) -> tuple[AnswerT, int]:
    """Call `try_once(number)` until it returns; return its answer and the number of tries.

    Raises:
        Fault: the last one, when it cannot or may not be tried again.
    """
    retries = _RetryBudget(limits, limiter)
    while True:
        slot = await limiter.acquire(watch, max_wait_s=limits.max_wait_s, is_retry=retries.tries > 0)
        retries.tries += 1
        try:
            answer = await try_once(retries.tries)
            limiter.succeeded(slot)
            return answer, retries.tries
        except Fault as fault:
            if fault.kind is FaultKind.RATE_LIMIT:
                limiter.throttled(slot, fault.retry_after_s)
            elif fault.is_retryable:
                limiter.faulted()
            else:
                limiter.reached()
            failed = fault
        finally:
            limiter.release(slot)
        wait_s = retries.wait_after(failed)
        watch.on_failed_try(failed, wait_s)
        if wait_s is None:
            failed.never_reached = failed.kind in _ABOUT_SETTINGS and not limiter.is_proven
            raise failed
        if failed.kind is not FaultKind.RATE_LIMIT and limiter.down_since is None:
            await asyncio.sleep(wait_s)
