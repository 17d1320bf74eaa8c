"""Outputs of finished rollouts that other cases depend on; other outputs are dropped, as they are large."""

from collections.abc import Iterable
from typing import Any

from console.core.case import Case, Slot
from console.core.outcome import Outcome
from console.core.record import Finished
from console.core.tally import Counted


class DependencyOutputs:
    """Outputs that other cases of the run depend on."""

    def __init__(self, cases: Iterable[Case]) -> None:
        """Find the cases that others depend on."""
        self._dependencies = {need for case in cases for need in case.depends_on}
        self._by_slot: dict[Slot, Any] = {}

    def add(self, finished: Finished) -> None:
        """Keep a rollout's output (None if it has no answer) if another case depends on it."""
        if finished.key.case in self._dependencies:
            self._by_slot[finished.key.slot] = finished.output if has_answer(finished) else None

    def get(self, case_id: str, rollout: int) -> Any:
        """Return the output of a rollout that has an answer, else None."""
        return self._by_slot.get((case_id, rollout))


def has_answer(finished: Counted) -> bool:
    """Return whether other cases may use a rollout's output."""
    return finished.verdict.outcome not in (Outcome.BROKEN, Outcome.NOT_RUN)
