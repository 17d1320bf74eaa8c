"""The interval that stands beside every rate. Pure."""

import math
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
