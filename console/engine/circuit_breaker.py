"""A circuit breaker for refusals: it sets conversations aside until either the run or the case is known to be at fault.

Until a model has answered once, at most three calls are risked on an unproven key, address or request format (a
mistyped key costs 3 calls, not 3,000). The run does not wait for a model that the first three conversations did not
need, such as a judge of few cases.
"""

from collections.abc import Iterable

from console.core.fault import Fault, FaultKind
from console.core.record import Finished
from console.engine.queue import Job

UNPROVEN_CALLS = 3
"""Calls risked before any model has answered."""


class CircuitBreaker:
    """Limits calls to models that have not answered yet, and stops the run if they only refuse."""

    def __init__(self, roles: Iterable[str], *, is_batched: bool = False) -> None:
        """Start with unproven models of these roles; `is_batched` if calls go through batches, which start together."""
        self._unproven, self._is_batched = set(roles), is_batched
        self._refusals: dict[str, int] = {}
        self._answered = 0
        """Number of conversations that ended with an answer."""
        self._refused: list[tuple[Job, Finished]] = []

    def __len__(self) -> int:
        """Return the number of conversations set aside."""
        return len(self._refused)

    @property
    def is_careful(self) -> bool:
        """True if a model that the first conversations need has not answered yet."""
        return bool(self._unproven) and self._answered < UNPROVEN_CALLS

    def most_in_flight(self, concurrency: int) -> int:
        """Return the maximum number of conversations in flight."""
        if self._is_batched or not self.is_careful:
            return concurrency
        return min(concurrency, UNPROVEN_CALLS - sum(self._refusals.values()))

    def is_case_fault(self, fault: Fault) -> bool:
        """Return whether a refusal is due to the case: a request that a proven model rejects."""
        return fault.kind in (FaultKind.BAD_REQUEST, FaultKind.BAD_TOOL_SCHEMA) and fault.role not in self._unproven

    def note_end(self, *, has_answer: bool) -> None:
        """Count a conversation that ended without being set aside."""
        self._answered += has_answer

    def set_aside(self, role: str, job: Job, finished: Finished) -> bool:
        """Set a refused conversation aside; return whether the run must stop."""
        self._refusals[role] = self._refusals.get(role, 0) + 1
        self._refused.append((job, finished))
        return self._refusals[role] >= UNPROVEN_CALLS

    @property
    def verdict(self) -> str:
        """Message of the last refusal if no answer has yet proven the settings right; otherwise empty."""
        return (
            self._refused[-1][1].verdict.messages[0] if self._refused and self._unproven & set(self._refusals) else ""
        )

    def pop_refused(self) -> list[tuple[Job, Finished]]:
        """Return and remove all conversations set aside."""
        refused, self._refused = self._refused, []
        return refused

    def awaits_answer(self, role: str) -> bool:
        """Return whether an answer from this role's model would prove anything new."""
        return role in self._unproven or role in self._refusals

    def record_answer(self, role: str) -> list[tuple[Job, Finished]]:
        """Trust a role's model; return the conversations whose refusals are now attributed to their cases."""
        self._unproven.discard(role)
        return self.pop_refused() if self._refusals.pop(role, None) and not self._refusals else []
