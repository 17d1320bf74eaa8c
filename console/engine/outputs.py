"""What finished rollouts returned, kept for the cases that build on them; outputs are large, so only for those."""

from collections.abc import Iterable
from typing import Any

from console.core.case import Case
from console.core.outcome import Outcome
from console.core.record import Finished


class Outputs:
    """The outputs that some case of the run depends on."""

    def __init__(self, cases: Iterable[Case]) -> None:
        """Look through the run's cases for what others build on."""
        self._wanted = {need for case in cases for need in case.depends_on}
        self._kept: dict[tuple[str, int], Any] = {}

    def take(self, finished: Finished) -> None:
        """Keep what a rollout returned, if anybody wants it; without an answer there is nothing to build on."""
        if finished.key.case in self._wanted:
            self._kept[finished.key.case, finished.key.rollout] = finished.output if has_answer(finished) else None

    def of(self, case_id: str, rollout: int) -> Any:
        """Return the output of a rollout that has an answer, else None."""
        return self._kept.get((case_id, rollout))


def has_answer(finished: Finished) -> bool:
    """Whether others may build on what a rollout did."""
    return finished.verdict.outcome not in (Outcome.BROKEN, Outcome.NOT_RUN)
