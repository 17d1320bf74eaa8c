"""Chooses the address of a model for each request.

Each address keeps its shared limiter, so limits, pauses and outages are its own. A conversation stays at the address
that answered it last, whose server has its prompt cached; other requests go to the address with the fewest in flight,
round-robin among equals. An address where nothing succeeds, or that refuses the key or the model, is skipped while
another one works, and single requests probe it after ever longer pauses. If no address has room, a request takes the
first one to get room. None of this applies to a model with one address.
"""

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf

import msgspec

from console.core.fault import Fault
from console.core.live import EndpointState
from console.llm.endpoint import Watch
from console.llm.limits.limiter import Limiter, Slot

_FIRST_PROBE_S = 1.0
_LONGEST_PROBE_S = 30.0
_LEAST_PATIENCE_S = 0.5
"""Minimum seconds in the queues before the addresses are judged again."""


class Address:
    """Address of a model: its limiter, and whether it is skipped."""

    def __init__(self, place: int, name: str, limiter: Limiter) -> None:
        """Start with a trusted address.

        Args:
            place: index among the addresses of the model, from 0.
            name: name in views and journals; empty if it is the only address.
            limiter: its limits.
        """
        self.place, self.name, self.limiter = place, name, limiter
        self._refusal = ""
        self._failed_probes = 0
        self._probe_at = 0.0
        self._probe: Slot | None = None

    @property
    def is_sound(self) -> bool:
        """True if requests are likely to succeed now."""
        return not (self._is_passed_over or self.limiter.pause_s)

    @property
    def _is_passed_over(self) -> bool:
        return bool(self._refusal) or self.limiter.is_suspect or self.limiter.down_since is not None

    @property
    def waits_for_probe(self) -> bool:
        """True if a single request should probe this address now."""
        return self._is_passed_over and self._probe is None and self.changes_in_s == 0.0

    @property
    def changes_in_s(self) -> float:
        """Seconds until a pause ends or the next probe is due."""
        probe_s = self._probe_at - time.monotonic() if self._is_passed_over else 0.0
        return max(self.limiter.pause_s, probe_s, 0.0)

    async def acquire(self, watch: Watch, *, max_wait_s: float, is_retry: bool) -> Slot:
        """Wait for permission to send a request here; see `Limiter.acquire`."""
        slot = await self.limiter.acquire(watch, max_wait_s=max_wait_s, is_retry=is_retry)
        if self._is_passed_over:
            self._probe = slot
        return slot

    def release(self, slot: Slot) -> None:
        if slot is self._probe:
            self._probe = None
        self.limiter.release(slot)

    def succeeded(self, slot: Slot) -> None:
        """Record a good answer; call this before releasing its slot."""
        self.limiter.succeeded(slot)
        self._refusal, self._failed_probes = "", 0

    def failed(self, fault: Fault, *, is_refusal: bool) -> None:
        """Record a fault, after the limiter.

        Args:
            fault: the fault of the request.
            is_refusal: True if the address refuses any request.
        """
        if is_refusal:
            self._refusal = fault.message
        elif not fault.is_retryable:
            self._refusal = ""
        now = time.monotonic()
        if self._is_passed_over and self._probe_at <= now:  # concurrent failures count once
            self._probe_at = now + min(_LONGEST_PROBE_S, _FIRST_PROBE_S * 2.0**self._failed_probes)
            self._failed_probes = min(self._failed_probes + 1, 20)

    def retry_now(self) -> None:
        """End pauses, and use this address for the next request."""
        self._probe_at, self._failed_probes = 0.0, 0
        self.limiter.retry_now()

    def state(self) -> EndpointState:
        state = self.limiter.state()
        if not self.name:
            return state
        why = state.why
        if self._is_passed_over:
            why = f"skipped: {self._refusal or f'the last {state.faults_in_a_row} calls failed'}"
        return msgspec.structs.replace(state, name=self.name, why=why)


class Balancer:
    """The addresses of a model."""

    def __init__(self, limiters: Iterable[tuple[str, Limiter]]) -> None:
        """Store each address with its limiter and the name that views and journals use."""
        self.addresses = [Address(place, name, limiter) for place, (name, limiter) in enumerate(limiters)]
        self._turn = 0

    async def acquire(
        self,
        watch: Watch,
        *,
        prefers: str,
        failures: Mapping[int, int],
        refused: Collection[int],
        max_wait_s: float,
        is_retry: bool,
    ) -> tuple[Address, Slot]:
        """Wait for permission to send a request, at the best address.

        Args:
            watch: notified of waits.
            prefers: name of the address that answered the conversation last; may be empty or unknown.
            failures: failures of this request by address index.
            refused: indexes of addresses that refused it permanently; at least one address is left.
            max_wait_s: longer pauses raise a fault at once, if all addresses have one.
            is_retry: True if a rate limit refused the request before; it goes ahead of others.

        Raises:
            Fault: `rate_limit`, with the shortest pause, if every address asks for more than `max_wait_s`.
        """
        if len(self.addresses) == 1:
            address = self.addresses[0]
            return address, await address.acquire(watch, max_wait_s=max_wait_s, is_retry=is_retry)
        usable = [address for address in self.addresses if address.place not in refused]
        while True:
            sound = [address for address in usable if address.is_sound]
            address = self._free(usable, sound or usable, prefers, failures)
            if address is not None:
                return address, await address.acquire(watch, max_wait_s=max_wait_s, is_retry=is_retry)
            change_s = min((address.changes_in_s for address in usable if address not in sound), default=inf)
            patience_s = max(_LEAST_PATIENCE_S, change_s) if sound else inf
            if granted := await _first_granted(sound or usable, patience_s, watch, max_wait_s, is_retry=is_retry):
                return granted

    @property
    def is_paused(self) -> bool:
        """True while an address asks for a pause."""
        return any(address.limiter.pause_s for address in self.addresses)

    def retry_now(self) -> None:
        for address in self.addresses:
            address.retry_now()

    def states(self) -> list[EndpointState]:
        return [address.state() for address in self.addresses]

    def _free(
        self, usable: Sequence[Address], pool: Sequence[Address], prefers: str, failures: Mapping[int, int]
    ) -> Address | None:
        """Return the best address with room, or None."""
        for address in usable:
            if address.waits_for_probe and not failures.get(address.place) and address.limiter.has_room:
                return address
        free = [address for address in pool if address.limiter.has_room or _is_worth_awaiting(address, prefers)]
        if not free:
            return None
        count = len(self.addresses)
        best = min(
            free,
            key=lambda address: (
                failures.get(address.place, 0),
                address.name != prefers,
                address.limiter.load,
                (address.place - self._turn) % count,
            ),
        )
        if best.name != prefers:
            self._turn = best.place + 1
        return best


def _is_worth_awaiting(address: Address, prefers: str) -> bool:
    """Return True if the preferred address is about to get its share of the limits."""
    return address.name == prefers and address.limiter.is_joining


async def _first_granted(
    pool: Sequence[Address], patience_s: float, watch: Watch, max_wait_s: float, *, is_retry: bool
) -> tuple[Address, Slot] | None:
    """Queue at several addresses and return the first slot, or None after `patience_s`.

    Raises: Fault: all of them require longer waits than allowed; the shortest is raised.
    """
    queues = {
        asyncio.ensure_future(address.acquire(watch, max_wait_s=max_wait_s, is_retry=is_retry)): address
        for address in pool
    }
    left, faults = set(queues), list[Fault]()
    deadline = time.monotonic() + patience_s
    chosen: asyncio.Future[Slot] | None = None
    try:
        while left:
            timeout_s = None if deadline == inf else max(0.0, deadline - time.monotonic())
            done, left = await asyncio.wait(left, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            for queued in done:
                match queued.exception():
                    case None:
                        chosen = queued
                        return queues[queued], queued.result()
                    case Fault() as fault:
                        faults.append(fault)
                    case error:
                        raise error
            if not done:
                return None
        raise min(faults, key=lambda fault: fault.retry_after_s or 0.0)
    finally:
        for queued, address in queues.items():
            if queued is not chosen and not queued.cancel() and not queued.cancelled() and queued.exception() is None:
                address.release(queued.result())
