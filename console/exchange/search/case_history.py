"""History of a case: its outcomes in all runs, by suite and case id."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.core.case import Slot
from console.core.outcome import Outcome
from console.insight.rollout import Rollout
from console.store.runs import RunFolder

if TYPE_CHECKING:
    from console.exchange.search.hits import ConversationFacts, Search
    from console.exchange.search.indexing import RunFacts


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A case in one run."""

    folder: RunFolder
    facts: "RunFacts"
    rollouts: tuple[Rollout, ...]
    """The attempt at each repeat that counts, without messages."""
    digest: str
    """Digest of the case as played."""

    @property
    def passed(self) -> int:
        """Number of repeats that passed."""
        return sum(rollout.outcome is Outcome.PASSED for rollout in self.rollouts)

    @property
    def graded(self) -> int:
        """Number of repeats that passed or failed."""
        return sum(rollout.outcome is not None and rollout.outcome.is_graded for rollout in self.rollouts)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome that all repeats share; None if they differ, or none has ended."""
        outcomes = {rollout.outcome for rollout in self.rollouts}
        return outcomes.pop() if len(outcomes) == 1 else None


def case_history(search: "Search", suite: str, case: str) -> list[CaseRun]:
    """Return the runs that played a case, newest first.

    Raises:
        NoIndex: the index is damaged, or was removed.
    """
    by_run: dict[int, dict[Slot, ConversationFacts]] = {}
    for number, conversation in search.of_case(suite, case):
        rollout, plays = conversation.rollout, by_run.setdefault(number, {})
        counted = plays.get(rollout.slot)
        if counted is None or not counted.rollout.has_grade:
            plays[rollout.slot] = conversation
    runs = [
        CaseRun(*run, _rollouts(plays), next(reversed(plays.values())).digest)
        for number, plays in by_run.items()
        if (run := search.run_of(number)) is not None
    ]
    return runs[::-1]


def _rollouts(plays: "dict[Slot, ConversationFacts]") -> tuple[Rollout, ...]:
    return tuple(sorted((facts.rollout for facts in plays.values()), key=lambda rollout: rollout.key.rollout))


@dataclass(frozen=True, slots=True)
class ModelHistory:
    """The runs of one model on a case, oldest first."""

    model: str
    runs: Sequence[CaseRun]


def by_model(runs: Sequence[CaseRun], first: str) -> list[ModelHistory]:
    """Return a history by model: `first`, then the others by their newest run.

    Args:
        runs: the runs, newest first.
        first: name of the model that comes first.
    """
    models = sorted(dict.fromkeys(run.facts.model for run in runs), key=lambda model: model != first)
    return [ModelHistory(model, [run for run in reversed(runs) if run.facts.model == model]) for model in models]
