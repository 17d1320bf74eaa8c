"""Intervals and tests by resampling, for cases without a formula; deterministic for given values and seed."""

import itertools
import math
import operator
import random
from collections.abc import Sequence

from console.core.statistics.distributions import quantile
from console.core.statistics.intervals import BOOTSTRAP, Interval

Distances = Sequence[Sequence[float]]
"""Symmetric matrix."""
EXACT_UP_TO = 12
"""Up to this many non-zero differences are tested exactly, over all signs."""
_WORK = 1_000_000
"""Approximate maximum number of additions per interval or test."""


def bootstrap_mean(values: Sequence[float], *, draws: int = 2000, seed: int = 0) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean; deterministic for given values and seed.

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("an interval needs at least one value")
    source = random.Random(seed)  # noqa: S311 - resampling, not secrets
    count = len(values)
    means = sorted(math.fsum(source.choices(values, k=count)) / count for _ in range(draws))
    return quantile(means, 0.025), quantile(means, 0.975)


def bootstrap_interval(values: Sequence[float]) -> Interval:
    """Return the mean of independent values, one per case, with its bootstrap interval.

    Raises:
        ValueError: no values.
    """
    low, high = bootstrap_mean(values)
    count = len(values)
    return Interval(math.fsum(values) / count, low, high, count, count, count, BOOTSTRAP)


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> float:
    """Return the p of the two-sided sign-flip test: the probability of a mean this far from 0 by chance.

    Exact up to `EXACT_UP_TO` non-zero differences; sampled beyond, deterministically for the seed.
    """
    moved = [abs(value) for value in differences if value]
    if not moved:
        return 1.0
    reached = abs(math.fsum(differences)) - 1e-9
    if len(moved) <= EXACT_UP_TO:
        sums = [abs(math.fsum(signed)) for signed in itertools.product(*((value, -value) for value in moved))]
        return sum(total >= reached for total in sums) / len(sums)
    source, draws = random.Random(seed), draws_for(len(moved), 10_000)  # noqa: S311 - resampling, not secrets
    hits = 0
    for _ in range(draws):
        bits = source.getrandbits(len(moved))
        total = math.fsum(value if bits >> place & 1 else -value for place, value in enumerate(moved))
        hits += abs(total) >= reached
    return (hits + 1) / (draws + 1)


def same_source(groups: Sequence[tuple[Distances, int]], *, seed: int = 0, draws: int = 4999) -> float:
    """Return the p of a permutation test: the probability of two samples this far apart by chance.

    The statistic is the sum of all distances between the two samples of each group. Within a group, all divisions into
    samples of these sizes are equally likely if both come from one source; sums over groups are drawn from them.

    Args:
        groups: distances between all values of both samples, at most 12, and the size of the first sample.
        seed: makes the draws deterministic.
        draws: number of draws.
    """
    source = random.Random(seed)  # noqa: S311 - resampling, not secrets
    reached, drawn = 0.0, [0.0] * draws
    for distances, size in groups:
        if not any(map(any, distances)):
            continue
        everyone = frozenset(range(len(distances)))
        sums = [
            sum(distances[one][other] for one in chosen for other in everyone.difference(chosen))
            for chosen in itertools.combinations(range(len(distances)), size)
        ]
        reached += sums[0]
        drawn = list(map(operator.add, drawn, source.choices(sums, k=draws)))
    return (1 + sum(total >= reached - 1e-9 for total in drawn)) / (1 + draws)


def draws_for(count: int, most: int) -> int:
    """Return the number of draws for this many values, at most `most`."""
    return max(200, min(most, _WORK // count))
