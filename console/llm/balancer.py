"""Which of a model's addresses the next request goes to.

Each address keeps the limiter that everybody shares who asks it, so limits, pauses and outages are its own. A
conversation stays where it was answered last, whose server has its prompt cached; everything else goes where the fewest
requests are in flight, in turn where these are equal. An address at which nothing succeeds (or that refuses key or
model) is passed over while another one answers, and a single request tries it after ever longer times. Where no room
is free a request takes the first that becomes free anywhere. With one address nothing of this happens.
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
"""For waiting in lines before it is looked again whether another address is sound."""


class Address:
    """One address of a model: its limiter, and whether it is passed over."""

    def __init__(self, place: int, name: str, limiter: Limiter) -> None:
        """Begin with an address in which all trust is put.

        Args:
            place: its place among the addresses of its model, from 0.
            name: what views and journals call it; empty where there is no other one.
            limiter: its limits.
        """
        self.place, self.name, self.limiter = place, name, limiter
        self._refusal = ""
        self._failed_probes = 0
        self._probe_at = 0.0
        self._probe: Slot | None = None

    @property
    def is_sound(self) -> bool:
        """Whether requests are likely to succeed here, now."""
        return not (self._is_passed_over or self.limiter.pause_s)

    @property
    def _is_passed_over(self) -> bool:
        return bool(self._refusal) or self.limiter.is_suspect or self.limiter.down_since is not None

    @property
    def waits_for_probe(self) -> bool:
        """Whether it is time for one request to see if requests succeed here again."""
        return self._is_passed_over and self._probe is None and self.changes_in_s == 0.0

    @property
    def changes_in_s(self) -> float:
        """Seconds until a pause ends or a request may try this address again."""
        probe_s = self._probe_at - time.monotonic() if self._is_passed_over else 0.0
        return max(self.limiter.pause_s, probe_s, 0.0)

    async def acquire(self, watch: Watch, *, max_wait_s: float, is_retry: bool) -> Slot:
        """Wait for permission to send a request here; see `Limiter.acquire`."""
        slot = await self.limiter.acquire(watch, max_wait_s=max_wait_s, is_retry=is_retry)
        if self._is_passed_over:
            self._probe = slot
        return slot

    def release(self, slot: Slot) -> None:
        """Give a slot back."""
        if slot is self._probe:
            self._probe = None
        self.limiter.release(slot)

    def succeeded(self, slot: Slot) -> None:
        """Learn from a good answer, before its slot is released."""
        self.limiter.succeeded(slot)
        self._refusal, self._failed_probes = "", 0

    def failed(self, fault: Fault, *, is_refusal: bool) -> None:
        """Learn from a fault that the limiter has learnt from.

        Args:
            fault: it.
            is_refusal: whether the address refuses whatever it is asked; another one may take it.
        """
        if is_refusal:
            self._refusal = fault.message
        elif not fault.is_retryable:
            self._refusal = ""
        now = time.monotonic()
        if self._is_passed_over and self._probe_at <= now:  # of requests that fail together only the first counts
            self._probe_at = now + min(_LONGEST_PROBE_S, _FIRST_PROBE_S * 2.0**self._failed_probes)
            self._failed_probes = min(self._failed_probes + 1, 20)

    def retry_now(self) -> None:
        """Forget pauses, and try this address with the next request."""
        self._probe_at, self._failed_probes = 0.0, 0
        self.limiter.retry_now()

    def state(self) -> EndpointState:
        """Return what views show of it."""
        state = self.limiter.state()
        if not self.name:
            return state
        why = state.why
        if self._is_passed_over:
            why = f"passed over: {self._refusal or f'the last {state.faults_in_a_row} calls failed'}"
        return msgspec.structs.replace(state, name=self.name, why=why)


class Balancer:
    """The addresses of a model."""

    def __init__(self, limiters: Iterable[tuple[str, Limiter]]) -> None:
        """Take the limiter of each address under the name that views and journals give it."""
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
        """Wait for permission to send a request, at the address that suits it best.

        Args:
            watch: called with why, if there is a wait.
            prefers: name of the address at which its conversation was answered last; may be empty or unknown.
            failures: how often it has failed at each address, by place.
            refused: places that have refused it for good; at least one is left.
            max_wait_s: a pause longer than this is a fault at once, if it holds at every address.
            is_retry: it was refused by a rate limit, so it goes ahead of others.

        Raises:
            Fault: `rate_limit`, with the shortest time to wait, when each address asks for more than `max_wait_s`.
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

    def retry_now(self) -> None:
        """Forget all pauses."""
        for address in self.addresses:
            address.retry_now()

    def states(self) -> list[EndpointState]:
        """Return what views show of each address."""
        return [address.state() for address in self.addresses]

    def _free(
        self, usable: Sequence[Address], pool: Sequence[Address], prefers: str, failures: Mapping[int, int]
    ) -> Address | None:
        """Return the best address that a request can be sent to at once."""
        for address in usable:
            if address.waits_for_probe and not failures.get(address.place) and address.limiter.has_room:
                return address
        free = [address for address in pool if address.limiter.has_room or _is_worth_joining(address, prefers)]
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


def _is_worth_joining(address: Address, prefers: str) -> bool:
    """Whether a conversation waits for the address that knows it, for the moment in which limits are shared out."""
    return address.name == prefers and address.limiter.is_joining


async def _first_granted(
    pool: Sequence[Address], patience_s: float, watch: Watch, max_wait_s: float, *, is_retry: bool
) -> tuple[Address, Slot] | None:
    """Wait in the lines of several addresses at once, for the first that lets the request go; None after `patience_s`.

    Raises:
        Fault: each of them asks to wait longer than allowed; the fault with the shortest time.
    """
    lines = {
        asyncio.ensure_future(address.acquire(watch, max_wait_s=max_wait_s, is_retry=is_retry)): address
        for address in pool
    }
    left, faults = set(lines), list[Fault]()
    deadline = time.monotonic() + patience_s
    chosen: asyncio.Future[Slot] | None = None
    try:
        while left:
            timeout_s = None if deadline == inf else max(0.0, deadline - time.monotonic())
            done, left = await asyncio.wait(left, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            for line in done:
                match line.exception():
                    case None:
                        chosen = line
                        return lines[line], line.result()
                    case Fault() as fault:
                        faults.append(fault)
                    case error:
                        raise error
            if not done:
                return None
        raise min(faults, key=lambda fault: fault.retry_after_s or 0.0)
    finally:
        for line, address in lines.items():
            if line is not chosen and not line.cancel() and not line.cancelled() and line.exception() is None:
                address.release(line.result())
