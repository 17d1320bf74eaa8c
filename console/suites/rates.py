"""The interval that stands beside every rate, and quantiles. Pure."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.suites.suite import Metric

Z95 = 1.959963984540054


def rate(name: str, right: float, count: int, note: str = "") -> "Metric":
    """Return a rate with its 95 % Wilson interval; None when nothing was counted."""
    from console.suites.suite import Metric  # here, as the first frame needs intervals and no suite

    if count == 0:
        return Metric(name, None, note=note)
    low, high = wilson(right, count)
    return Metric(name, right / count, low, high, count, note=note)


def wilson(passed: float, graded: int, z: float = Z95) -> tuple[float, float]:
    """Return the Wilson score interval of a rate, two-sided, 95 % unless told otherwise; (0, 1) of nothing."""
    if graded == 0:
        return 0.0, 1.0
    rate, square = passed / graded, z * z
    centre = (rate + square / (2 * graded)) / (1 + square / graded)
    half = z / (1 + square / graded) * math.sqrt(rate * (1 - rate) / graded + square / (4 * graded * graded))
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == graded else min(1.0, centre + half)
    return low, high


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values by linear interpolation.

    Raises:
        ValueError: there are no values.
    """
    if not ordered:
        raise ValueError("a quantile needs at least one value")
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
