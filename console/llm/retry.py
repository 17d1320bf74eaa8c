"""Retries: the faults to retry, the waits between tries, and the end of trying.

A fault belongs to a single request once another request, sent after its first failure, has succeeded. It then proves
nothing about the endpoint, and the request is retried until its tries are used up. The waits are random, below a bound
that grows fourfold from twice the usual answer time and never exceeds one that doubles from `backoff_s`; so requests
that failed together are not retried together, and a passing fault costs little at a quick server.

Rate limits do not count as tries, and neither do other faults with a wait longer than a request may wait alone. The
limiter decides whether the refused request waits alone, or all together. A pause beyond `max_wait_s` is left to the
caller, which may pause more than this call. Waiting never counts toward a request's deadline.

All counts are kept per address of a model, except the tries, which belong to the request. A request that one address
refuses or cannot take now goes to another at once, as long as any may answer: see `balancer`.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import random
from typing import NamedTuple, TypeVar

from console.config.model import Limits
from console.core.fault import Fault, FaultKind
from console.llm.balancer import Address, Balancer
from console.llm.endpoint import Watch
from console.llm.limits.limiter import FAULTS_UNTIL_DOWN, Slot

AnswerT = TypeVar("AnswerT")

_LONGEST_WAIT_S = 60.0
_FIRST_WAIT = 2.0
"""First wait after a request's own fault, in usual answer times; each further one is `_WAIT_GROWTH` times it."""
_WAIT_GROWTH = 4.0
_FEWER_TRIES = {FaultKind.BAD_ANSWER: 2, FaultKind.DEADLINE: 2}
"""Faults retried only once: unreadable answers and exceeded deadlines."""
_SILENT_TRIES = 2
"""Tries without any part of an answer; the second waits longer for it."""
_FEWER_AT_FIRST = {FaultKind.CONNECT: 3}
"""Faults retried fewer times before the first answer, when a misspelled address is likelier than an outage."""
_ABOUT_SETTINGS = (FaultKind.CONNECT, FaultKind.BAD_ANSWER)
"""Faults that, before any answer, mean that base_url is wrong: a closed port, or a login page."""
_REFUSALS = (FaultKind.AUTH, FaultKind.QUOTA, FaultKind.NOT_FOUND)
"""Refusals that concern an address, not the request; another address may have the model, or accept the key."""
_UNAVAILABLE = frozenset({498, 502, 503, 504, *range(520, 531)})
"""Statuses of an unavailable provider; during an outage they do not use up tries."""


class Try(NamedTuple):
    """A try of a request."""

    number: int
    """Number of the try, from 1."""
    place: int
    """Index of the model's address, from 0."""


@dataclass(slots=True)
class _Tries:
    """Tries of one request, at all addresses together."""

    limits: Limits
    made: int = 0
    charged: int = 0
    silent: int = 0
    by_kind: Counter[FaultKind] = field(default_factory=Counter[FaultKind])


@dataclass(slots=True)
class _RetryBudget:
    """Tries and waits of one request at one address."""

    tries: _Tries
    address: Address
    waited_s: float = 0.0
    """Seconds waited for rate limits, or for the whole address, since the last pause of the run."""
    first_fault_at: float | None = None
    fails_alone: bool = False
    """True if other requests have succeeded in the meantime."""
    was_queued: bool = False
    """True if the last try got no answer because it waited in the server's queue."""
    queued: int = 0
    """Number of such tries."""
    alone_s: float = 0.0
    """Seconds for which the last rate limit makes this request wait alone; 0 if all wait."""

    def learn(self, fault: Fault, slot: Slot) -> None:
        """Report a fault to the limiter, unless it is the request's own."""
        limiter = self.address.limiter
        self.was_queued = False
        if fault.kind is FaultKind.RATE_LIMIT:
            self.alone_s = limiter.throttled(slot, fault.retry_after_s, longest_alone_s=self.longest_own_wait_s)
        elif fault.is_silent and limiter.was_queued(slot, fault.at_once):
            self.was_queued = True
        elif not fault.is_retryable:
            limiter.reached()
        else:
            self._learn_retryable(fault, is_overruled=limiter.is_overruled(slot))
        self.address.failed(fault, is_refusal=fault.kind in _REFUSALS)

    def _learn_retryable(self, fault: Fault, *, is_overruled: bool) -> None:
        limiter = self.address.limiter
        self.fails_alone = self.fails_alone or (
            self.first_fault_at is not None and limiter.has_answered_since(self.first_fault_at)
        )
        if self.first_fault_at is None:
            self.first_fault_at = time.monotonic()
        if not self.fails_alone:
            limiter.faulted(None if is_overruled else fault.retry_after_s)
            if self.is_shared_wait(fault) and not is_overruled:
                limiter.pause(fault.retry_after_s or 0.0)

    def is_shared_wait(self, fault: Fault) -> bool:
        """Return True if all requests to the address must wait, not only this one."""
        if fault.kind is FaultKind.RATE_LIMIT:
            return not self.alone_s
        return fault.is_retryable and not self.fails_alone and (fault.retry_after_s or 0.0) > self.longest_own_wait_s

    @property
    def longest_own_wait_s(self) -> float:
        """Longest time, in seconds, that a request waits by itself."""
        return min(_LONGEST_WAIT_S, self.tries.limits.max_wait_s)

    def wait_after(self, fault: Fault) -> float | None:
        """Return the seconds until the next try, or None to give up."""
        if not fault.is_retryable:
            return None
        tries, limits, limiter = self.tries, self.tries.limits, self.address.limiter
        if fault.kind is FaultKind.RATE_LIMIT or self.is_shared_wait(fault):
            wait_s = limiter.pause_s if self.is_shared_wait(fault) else self.alone_s
            self.waited_s += wait_s
            return wait_s if fault.retry_after_s or self.waited_s <= limits.max_wait_s else None
        if limiter.down_since is not None and _is_unavailable(fault):
            return limiter.pause_s if self.outage_s <= limits.max_outage_s else None
        if self.was_queued and self.queued < limits.max_tries:
            self.queued += 1
            return 0.0
        tries.charged += 1
        tries.by_kind[fault.kind] += 1
        tries.silent += fault.is_silent
        fewer = _FEWER_TRIES if limiter.is_proven else _FEWER_TRIES | _FEWER_AT_FIRST
        allowed = min(limits.max_tries, fewer.get(fault.kind, limits.max_tries))
        if tries.charged >= limits.max_tries or tries.by_kind[fault.kind] >= allowed or tries.silent >= _SILENT_TRIES:
            return None
        wait_s = self._longest_wait_s() * random()  # noqa: S311
        return max(min(fault.retry_after_s or 0.0, self.longest_own_wait_s), wait_s)

    def concerns_endpoint(self, fault: Fault) -> bool:
        """Return True if the address never answered or was down for too long."""
        limiter = self.address.limiter
        if limiter.is_proven:
            return self.outage_s > self.tries.limits.max_outage_s and _is_unavailable(fault)
        is_long = fault.is_retryable and limiter.faults_in_a_row >= FAULTS_UNTIL_DOWN
        return fault.kind in _ABOUT_SETTINGS or is_long

    @property
    def outage_s(self) -> float:
        """Seconds since the start of an outage; 0 if there is none."""
        down_since = self.address.limiter.down_since
        return 0.0 if down_since is None else time.monotonic() - down_since

    def _longest_wait_s(self) -> float:
        charged, limiter = self.tries.charged, self.address.limiter
        bound = min(_LONGEST_WAIT_S, self.tries.limits.backoff_s * 2.0 ** (charged - 1))
        if limiter.answer_s is None or limiter.is_suspect:
            return bound
        return min(bound, limiter.answer_s * _FIRST_WAIT * _WAIT_GROWTH ** (charged - 1))


class _Call:
    """One request and its tries at the addresses of a model."""

    def __init__(self, balancer: Balancer, limits: Limits, watch: Watch, prefers: str) -> None:
        self.limits, self.tries = limits, _Tries(limits)
        self._balancer, self._watch, self._prefers = balancer, watch, prefers
        self._budgets = [_RetryBudget(self.tries, address) for address in balancer.addresses]
        self._failures: Counter[int] = Counter()
        self._refused: set[int] = set()

    async def acquire(self, *, is_throttled: bool) -> tuple[_RetryBudget, Slot]:
        """Wait for permission to send; the watch waits out pauses beyond `max_wait_s`."""
        while True:
            try:
                address, slot = await self._balancer.acquire(
                    self._watch,
                    prefers=self._prefers,
                    failures=self._failures,
                    refused=self._refused,
                    max_wait_s=self.limits.max_wait_s,
                    is_retry=is_throttled,
                )
            except Fault as pause:
                if self._balancer.is_paused:  # no longer if `retry_now` came before this call woke up
                    await self._watch.pause_run(pause)
            else:
                return self._budgets[address.place], slot

    def goes_elsewhere(self, fault: Fault, failed_at: Address) -> bool:
        """Return True if another address is tried at once, which uses up no try."""
        others = [address for address in self._balancer.addresses if address is not failed_at]
        others = [address for address in others if address.place not in self._refused]
        self._failures[failed_at.place] += 1
        if fault.kind in _REFUSALS and others:
            self._refused.add(failed_at.place)
            return True
        sound = [address for address in others if address.is_sound]
        if fault.kind is FaultKind.RATE_LIMIT:
            return any(self._failures[address.place] < self._failures[failed_at.place] for address in sound)
        return _is_unavailable(fault) and any(not self._failures[address.place] for address in sound)

    def concerns_endpoint(self, fault: Fault) -> bool:
        """Return True if the last fault concerns the endpoint, at all of its addresses."""
        return all(budget.concerns_endpoint(fault) for budget in self._budgets)


def _is_unavailable(fault: Fault) -> bool:
    return fault.kind is FaultKind.CONNECT or fault.status in _UNAVAILABLE


async def ask_until_answered(
    try_once: Callable[[Try], Awaitable[AnswerT]], balancer: Balancer, limits: Limits, watch: Watch, prefers: str = ""
) -> tuple[AnswerT, int]:
    """Call `try_once` until it returns; return its answer and the number of tries.

    Args:
        try_once: makes one try.
        balancer: chooses the address.
        limits: limits of the model.
        watch: notified of failed tries and waits.
        prefers: name of the address that answered the conversation last.

    Raises:
        Fault: the last fault, if it may not be retried.
    """
    call = _Call(balancer, limits, watch, prefers)
    is_throttled = False
    while True:
        retries, slot = await call.acquire(is_throttled=is_throttled)
        address = retries.address
        call.tries.made += 1
        if address.name:
            watch.on_address(address.name)
        try:
            answer = await try_once(Try(call.tries.made, address.place))
            address.succeeded(slot)
            return answer, call.tries.made
        except Fault as fault:
            retries.learn(fault, slot)
            failed = fault
        finally:
            address.release(slot)
        if call.goes_elsewhere(failed, address):
            is_throttled = failed.kind is FaultKind.RATE_LIMIT
            watch.on_failed_try(failed, 0.0)
            continue
        wait_s = retries.wait_after(failed)
        watch.on_failed_try(failed, wait_s)
        if wait_s is None:
            failed.is_of_endpoint = call.concerns_endpoint(failed)
            if address.limiter.down_since is not None:
                failed.hint = failed.hint or "Resume the run when the provider is back, or raise limits.max_outage_s."
            raise failed
        is_shared = retries.is_shared_wait(failed)
        is_throttled = is_shared or failed.kind is FaultKind.RATE_LIMIT
        if not is_shared:  # during an outage the limiter decides
            await watch.wait_to_retry(wait_s if address.limiter.down_since is None else 0.0)
        elif retries.waited_s > limits.max_wait_s:
            retries.waited_s = 0.0
            await watch.pause_run(failed)
