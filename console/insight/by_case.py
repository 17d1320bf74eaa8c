"""Case-by-case comparison of scores: mean of A and mean of B over the rollouts graded in both. Pure."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from console.insight.comparison import PairOutcome, RolloutPair, RunComparison


@dataclass(frozen=True, slots=True)
class CasePair:
    """One case in both runs."""

    case: str
    title: str
    """Foreign text, like the case id."""
    a: float | None
    """Mean headline score of A over the graded pairs; None without any."""
    b: float | None
    rollouts: int
    """Number of graded pairs."""

    @property
    def change(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a


def by_case(comparison: RunComparison) -> list[CasePair]:
    """Return the cases of a score comparison, largest loss first, ungraded last; empty when passing is compared."""
    if not comparison.headline:
        return []
    cases: dict[str, list[RolloutPair]] = defaultdict(list)
    for pair in comparison.pairs:
        cases[pair.a.key.case].append(pair)
    listed = [_case(comparison.headline, pairs) for pairs in cases.values()]
    return sorted(listed, key=lambda case: math.inf if case.change is None else case.change)


def _case(headline: str, pairs: Sequence[RolloutPair]) -> CasePair:
    counted = [pair for pair in pairs if pair.outcome is not PairOutcome.LEFT_OUT]
    means = [
        math.fsum(rollout.scores[headline] for rollout in side) / len(side) if side else None
        for side in ([pair.a for pair in counted], [pair.b for pair in counted])
    ]
    first = pairs[0].a
    return CasePair(first.key.case, first.title, means[0], means[1], len(counted))
