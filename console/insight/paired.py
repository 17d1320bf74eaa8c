"""Paired differences of numbers: mean with bootstrap interval, and a sign-flip test. Pure Python, deterministic."""

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from console.insight.statistics import bootstrap_mean

EXACT_UP_TO = 12
"""So many non-zero differences are tested by going through all signs."""
_WORK = 1_000_000
"""About how many additions an interval or a test may cost."""


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A over cases that both have."""

    value: float
    low: float | None
    """95 % interval; None when there are too few cases for one."""
    high: float | None
    p: float | None
    """Two-sided; None without cases."""
    cases: int

    @property
    def words(self) -> str:
        """What may be concluded, in words a newcomer knows."""
        if self.p is None:
            return "nothing to compare"
        if self.value == 0 and self.p >= 1:
            return "no difference"
        return "may be chance" if self.p >= 0.05 else "unlikely to be chance"


def paired_mean(differences: Sequence[float]) -> Difference:
    """Return the mean of paired differences, one for each case, with percentile bootstrap interval over cases."""
    if not differences:
        return Difference(0.0, None, None, None, 0)
    mean = math.fsum(differences) / len(differences)
    low: float | None = None
    high: float | None = None
    if len(differences) > 1:
        low, high = bootstrap_mean(differences, draws=_draws(len(differences), 2000))
    return Difference(mean, low, high, sign_flip(differences), len(differences))


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> float:
    """Return the p of the two-sided sign-flip test: how often chance alone would give a mean as far from 0.

    Exact up to `EXACT_UP_TO` differences that are not 0; else drawn, the same numbers giving the same p.
    """
    moved = [abs(value) for value in differences if value]
    if not moved:
        return 1.0
    reached = abs(math.fsum(differences)) - 1e-9
    if len(moved) <= EXACT_UP_TO:
        sums = [abs(math.fsum(signed)) for signed in itertools.product(*((value, -value) for value in moved))]
        return sum(total >= reached for total in sums) / len(sums)
    source, draws = random.Random(seed), _draws(len(moved), 10_000)  # noqa: S311 - resampling, not secrets
    hits = 0
    for _ in range(draws):
        bits = source.getrandbits(len(moved))
        total = math.fsum(value if bits >> place & 1 else -value for place, value in enumerate(moved))
        hits += abs(total) >= reached
    return (hits + 1) / (draws + 1)


def _draws(count: int, most: int) -> int:
    return max(200, min(most, _WORK // count))
