"""Intervals and tests for rates and means. Pure Python; every interval is two-sided, 95 % unless told otherwise."""

import math
import random
from collections.abc import Sequence

from console.suites.rates import Z95, quantile, wilson


def bootstrap_mean(values: Sequence[float], *, draws: int = 2000, seed: int = 0) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean; the same values and seed give the same interval.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("an interval needs at least one value")
    source = random.Random(seed)  # noqa: S311 - resampling, not secrets
    count = len(values)
    means = sorted(math.fsum(source.choices(values, k=count)) / count for _ in range(draws))
    return quantile(means, 0.025), quantile(means, 0.975)


def mcnemar(lost: int, gained: int) -> float:
    """Return the p of the exact two-sided McNemar test.

    Args:
        lost: cases that A passed and B failed.
        gained: cases that A failed and B passed.
    """
    count, fewer = lost + gained, min(lost, gained)
    if lost == gained:
        return 1.0
    term, tail = 1, 1
    for k in range(1, fewer + 1):
        term = term * (count - k + 1) // k
        tail += term
    return min(1.0, 2 * tail / (1 << count))


def paired_difference(both: int, lost: int, gained: int, neither: int, z: float = Z95) -> tuple[float, float, float]:
    """Return difference of rates B - A over paired cases with Newcombe's hybrid score interval (his method 10).

    Args:
        both: cases that both passed.
        lost: passed by A only.
        gained: passed by B only.
        neither: passed by none.
        z: normal quantile of the interval.

    Returns:
        Difference, lower and upper bound; all 0, -1 and 1 without cases.
    """
    count = both + lost + gained + neither
    if count == 0:
        return 0.0, -1.0, 1.0
    a, b = both + lost, both + gained
    rate_a, rate_b, difference = a / count, b / count, (gained - lost) / count
    low_a, high_a = wilson(a, count, z)
    low_b, high_b = wilson(b, count, z)
    phi = _correlation(both, lost, gained, neither)
    down = _reach(rate_b - low_b, high_a - rate_a, phi)
    up = _reach(high_b - rate_b, rate_a - low_a, phi)
    return difference, difference - down, difference + up


def _reach(own: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, own * own - 2 * phi * own * other + other * other))


def _correlation(both: int, lost: int, gained: int, neither: int) -> float:
    margins = (both + lost) * (gained + neither) * (both + gained) * (lost + neither)
    if margins == 0:
        return 0.0
    cross = both * neither - lost * gained
    if cross > 0:
        cross = max(cross - (both + lost + gained + neither) / 2, 0.0)
    return cross / math.sqrt(margins)
