"""Retries: which faults are worth another try, after what wait, and when to give up.

A fault is a request's own, once another request that was sent after its first failure has been answered: then it tells
nothing of the endpoint, and the request is tried again beside the others until its tries are used up. Its waits are
random below a bound that grows fourfold from twice the usual time of an answer, and never beyond one that doubles from
`backoff_s`; so what failed together does not come back together, and a passing fault costs a quick server little.

Rate limits are waited out together in the limiter and are not counted as tries, and so is any other answer that names a
time beyond the request's own bounds. What exceeds `max_wait_s` is left to who asks, to hold more than the one call.
Waiting is never charged to a request's deadline.

All this is counted for each address of a model by itself, but for the tries, which are the request's own. What one
address refuses or cannot take now goes to another one at once, as long as there is one that may answer: see `balancer`.
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
_SOON = 2.0
"""First wait after a fault of one request, in usual answer times; each further one is `_SLOWER` times as long."""
_SLOWER = 4.0
_FEWER_TRIES = {FaultKind.BAD_ANSWER: 2, FaultKind.DEADLINE: 2}
"""An answer that is no answer, or one that took the whole deadline, is asked for once more only."""
_FEWER_AT_FIRST = {FaultKind.CONNECT: 3}
"""A server that has never answered is more likely mistyped than down."""
_ABOUT_SETTINGS = (FaultKind.CONNECT, FaultKind.BAD_ANSWER)
"""A closed port and a login page, seen before any answer, say that base_url is wrong."""
_REFUSALS = (FaultKind.AUTH, FaultKind.QUOTA, FaultKind.NOT_FOUND)
"""What an address refuses whatever it is asked; another one may have the model, or take the key."""
_AWAY = frozenset({502, 503, 504, 529})
"""Statuses of a provider that is away; with nothing but these no request's tries are used up in an outage."""


class Try(NamedTuple):
    """One of the tries of a request."""

    number: int
    """From 1."""
    place: int
    """Which of the model's addresses is asked, from 0."""


@dataclass(slots=True)
class _Tries:
    """How many tries one request has used up, at all addresses together."""

    limits: Limits
    made: int = 0
    charged: int = 0
    by_kind: Counter[FaultKind] = field(default_factory=Counter[FaultKind])


@dataclass(slots=True)
class _RetryBudget:
    """How much of the allowed tries and waiting one request has used up at one address."""

    tries: _Tries
    address: Address
    together_s: float = 0.0
    """Seconds waited together with all others, since the last hold."""
    first_fault_at: float | None = None
    fails_alone: bool = False
    """Whether its faults are its own, since others succeed."""

    def learn(self, fault: Fault, slot: Slot) -> None:
        """Tell the limiter what a fault says of the address, which is nothing when it is the request's own."""
        limiter = self.address.limiter
        if fault.kind is FaultKind.RATE_LIMIT:
            limiter.throttled(slot, fault.retry_after_s)
        elif not fault.is_retryable:
            limiter.reached()
        else:
            self._learn_retryable(fault)
        self.address.failed(fault, is_refusal=fault.kind in _REFUSALS)

    def _learn_retryable(self, fault: Fault) -> None:
        limiter = self.address.limiter
        self.fails_alone = self.fails_alone or (
            self.first_fault_at is not None and limiter.has_answered_since(self.first_fault_at)
        )
        if self.first_fault_at is None:
            self.first_fault_at = time.monotonic()
        if not self.fails_alone:
            limiter.faulted(fault.retry_after_s)
            if self.waits_with_all(fault):
                limiter.pause(fault.retry_after_s or 0.0)

    def waits_with_all(self, fault: Fault) -> bool:
        """Whether a wait concerns the whole address: by a rate limit, or by a time beyond a request's own bounds."""
        if fault.kind is FaultKind.RATE_LIMIT:
            return True
        return fault.is_retryable and not self.fails_alone and (fault.retry_after_s or 0.0) > self.longest_own_wait_s

    @property
    def longest_own_wait_s(self) -> float:
        """Seconds that a request waits by itself at most."""
        return min(_LONGEST_WAIT_S, self.tries.limits.max_wait_s)

    def wait_after(self, fault: Fault) -> float | None:
        """Return seconds to wait before the next try; None when there is to be none."""
        if not fault.is_retryable:
            return None
        tries, limits, limiter = self.tries, self.tries.limits, self.address.limiter
        if self.waits_with_all(fault):
            pause = limiter.pause_s
            self.together_s += pause
            return pause if fault.retry_after_s or self.together_s <= limits.max_wait_s else None
        if limiter.down_since is not None and _is_away(fault):
            return limiter.pause_s if self.outage_s <= limits.max_outage_s else None
        tries.charged += 1
        tries.by_kind[fault.kind] += 1
        fewer = _FEWER_TRIES if limiter.is_proven else _FEWER_TRIES | _FEWER_AT_FIRST
        allowed = min(limits.max_tries, fewer.get(fault.kind, limits.max_tries))
        if tries.charged >= limits.max_tries or tries.by_kind[fault.kind] >= allowed:
            return None
        wait_s = self._longest_wait_s() * random()  # noqa: S311
        return max(min(fault.retry_after_s or 0.0, self.longest_own_wait_s), wait_s)

    def concerns_endpoint(self, fault: Fault) -> bool:
        """Whether a fault that ends a request tells of the address: it never answered, or was down for too long."""
        limiter = self.address.limiter
        if limiter.is_proven:
            return self.outage_s > self.tries.limits.max_outage_s and _is_away(fault)
        is_long = fault.is_retryable and limiter.faults_in_a_row >= FAULTS_UNTIL_DOWN
        return fault.kind in _ABOUT_SETTINGS or is_long

    @property
    def outage_s(self) -> float:
        """Seconds since the provider went down; 0 while it is up."""
        down_since = self.address.limiter.down_since
        return 0.0 if down_since is None else time.monotonic() - down_since

    def _longest_wait_s(self) -> float:
        charged, limiter = self.tries.charged, self.address.limiter
        bound = min(_LONGEST_WAIT_S, self.tries.limits.backoff_s * 2.0 ** (charged - 1))
        if limiter.answer_s is None or limiter.is_suspect:
            return bound
        return min(bound, limiter.answer_s * _SOON * _SLOWER ** (charged - 1))


class _Call:
    """One request on its way through the addresses of a model."""

    def __init__(self, balancer: Balancer, limits: Limits, watch: Watch, prefers: str) -> None:
        self.limits, self.tries = limits, _Tries(limits)
        self._balancer, self._watch, self._prefers = balancer, watch, prefers
        self._budgets = [_RetryBudget(self.tries, address) for address in balancer.addresses]
        self._failures: Counter[int] = Counter()
        self._refused: set[int] = set()

    async def acquire(self, *, is_throttled: bool) -> tuple[_RetryBudget, Slot]:
        """Wait for permission to send; a pause beyond `max_wait_s` is left to who asks."""
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
                await self._watch.pause_run(pause)
            else:
                return self._budgets[address.place], slot

    def goes_elsewhere(self, fault: Fault, failed_at: Address) -> bool:
        """Whether another address is asked at once, which is charged to nothing."""
        others = [address for address in self._balancer.addresses if address is not failed_at]
        others = [address for address in others if address.place not in self._refused]
        self._failures[failed_at.place] += 1
        if fault.kind in _REFUSALS and others:
            self._refused.add(failed_at.place)
            return True
        sound = [address for address in others if address.is_sound]
        if fault.kind is FaultKind.RATE_LIMIT:
            return bool(sound)
        return _is_away(fault) and any(not self._failures[address.place] for address in sound)

    def concerns_endpoint(self, fault: Fault) -> bool:
        """Whether a fault that ends the request tells of the endpoint, and not of one address alone."""
        return all(budget.concerns_endpoint(fault) for budget in self._budgets)


def _is_away(fault: Fault) -> bool:
    return fault.kind is FaultKind.CONNECT or fault.status in _AWAY


async def ask_until_answered(
    try_once: Callable[[Try], Awaitable[AnswerT]], balancer: Balancer, limits: Limits, watch: Watch, prefers: str = ""
) -> tuple[AnswerT, int]:
    """Call `try_once` until it returns; return its answer and the number of tries.

    Args:
        try_once: makes one try.
        balancer: the addresses to choose from.
        limits: those of the model.
        watch: called at failed tries and waits.
        prefers: name of the address at which the conversation was answered last.

    Raises:
        Fault: the last one, when it cannot or may not be tried again.
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
        is_throttled = retries.waits_with_all(failed)
        if not is_throttled:  # of a provider that is down the limiter knows best when it is back
            await watch.wait_to_retry(wait_s if address.limiter.down_since is None else 0.0)
        elif retries.together_s > limits.max_wait_s:
            retries.together_s = 0.0
            await watch.pause_run(failed)
