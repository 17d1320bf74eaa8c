"""A 95 % interval for a sum of means, each over a handful of repeats. Pure.

Each question is a stratum with its own variance; degrees of freedom after Welch and Satterthwaite, quantiles of
Student's t from a table up to 30 degrees and by the usual expansion beyond.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

_T975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
_Z975 = 1.959964


class Spread(NamedTuple):
    """A number with its 95 % interval; no bounds where nothing was repeated."""

    value: float
    low: float | None = None
    high: float | None = None


def spread_of_sum(groups: Sequence[Sequence[float]]) -> Spread:
    """Return the sum of the groups' means and its interval; a group without a repeat makes the interval unknown."""
    value = math.fsum(_mean(group) for group in groups)
    if not groups or any(len(group) < 2 for group in groups):
        return Spread(value)
    parts = [_variance_of_mean(group) for group in groups]
    total = math.fsum(parts)
    if total == 0.0:
        return Spread(value, value, value)
    weights = math.fsum(part * part / (len(group) - 1) for part, group in zip(parts, groups, strict=True))
    half = t975(total * total / weights) * math.sqrt(total)
    return Spread(value, max(0.0, value - half), value + half)


def t975(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t; conservative between whole degrees of freedom."""
    whole = max(1, math.floor(freedom))
    if whole <= len(_T975):
        return _T975[whole - 1]
    return _Z975 + (_Z975**3 + _Z975) / (4 * whole)


def _mean(group: Sequence[float]) -> float:
    return math.fsum(group) / len(group)


def _variance_of_mean(group: Sequence[float]) -> float:
    mean = _mean(group)
    return math.fsum((item - mean) ** 2 for item in group) / (len(group) - 1) / len(group)
