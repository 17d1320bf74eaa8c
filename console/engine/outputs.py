"""What finished rollouts returned, kept for the cases that build on them; outputs are large, so only for those."""

from collections.abc import Iterable
from typing import Any

from console.core.case import Case, Slot
from console.core.outcome import Outcome
from console.core.record import Finished


class DependencyOutputs:
    """The outputs that some case of the run depends on."""

    def __init__(self, cases: Iterable[Case]) -> None:
        """Find out which of the run's cases others depend on."""
        self._dependencies = {need for case in cases for need in case.depends_on}
        self._by_slot: dict[Slot, Any] = {}

    def add(self, finished: Finished) -> None:
        """Keep what a rollout returned if another depends on it; without an answer there is nothing to build on."""
        if finished.key.case in self._dependencies:
            self._by_slot[finished.key.case, finished.key.rollout] = finished.output if has_answer(finished) else None

    def get(self, case_id: str, rollout: int) -> Any:
        """Return the output of a rollout that has an answer, else None."""
        return self._by_slot.get((case_id, rollout))


def has_answer(finished: Finished) -> bool:
    """Whether others may build on what a rollout did."""
    return finished.verdict.outcome not in (Outcome.BROKEN, Outcome.NOT_RUN)
