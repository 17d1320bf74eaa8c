"""Requests that fail repeatedly while others succeed, as opposed to a failing provider."""

from dataclasses import dataclass
from math import inf

from console.core.case import Key
from console.core.fault import FaultKind
from console.core.outcome import Outcome
from console.core.record import AnyRecord, Asked, Embedded, Finished, Opened, Tried

_TRIES = 2
"""Failed tries after which a request counts as failing."""


@dataclass(slots=True)
class _FailingRequest:
    first_fault_at: float
    tries: int = 0


class FailingRequests:
    """Unanswered requests of this session with two or more failed tries, given up or not.

    Rate limits do not count as failures. Records are applied in journal order.
    """

    def __init__(self) -> None:
        self._requests: dict[Key, dict[int, _FailingRequest]] = {}
        self._last_good_start = -inf

    def apply(self, record: AnyRecord) -> None:
        match record:
            case Tried() if record.kind != FaultKind.RATE_LIMIT:
                calls = self._requests.setdefault(record.key, {})
                calls.setdefault(record.n, _FailingRequest(record.at)).tries += 1
            case Asked():
                self._last_good_start = max(self._last_good_start, record.at - record.reply.latency_s)
                self._answered(record.key, record.n)
            case Embedded():
                self._answered(record.key, record.n)
            case Finished() if record.verdict.outcome is not Outcome.BROKEN:
                self._requests.pop(record.key, None)
            case Opened():
                self._requests.clear()
            case _:
                pass

    def _answered(self, key: Key, n: int) -> None:
        if calls := self._requests.get(key):
            calls.pop(n, None)
            if not calls:
                del self._requests[key]

    @property
    def is_total(self) -> bool:
        """True if requests keep failing and none sent since has succeeded."""
        total, alone = self._counts()
        return bool(total) and not alone

    @property
    def text(self) -> str:
        """Number of failing requests, and whether others succeed; empty if there are no failing requests."""
        total, alone = self._counts()
        if not total:
            return ""
        return f"{_requests(alone)} failing, others fine" if alone else f"{_requests(total)} failing, none succeeds"

    def _counts(self) -> tuple[int, int]:
        """Return the number of requests that keep failing, and of those that do so while others succeed."""
        failing = [call for calls in self._requests.values() for call in calls.values() if call.tries >= _TRIES]
        return len(failing), sum(call.first_fault_at < self._last_good_start for call in failing)


def _requests(count: int) -> str:
    return "1 request keeps" if count == 1 else f"{count:,} requests keep"
