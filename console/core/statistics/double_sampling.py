"""The score of a judge, corrected by people who graded a sample of its verdicts (double sampling).

The judge's verdicts are strata: from each, some are drawn and graded by people. With a binary judge, this
is prediction-powered inference with the best weight. Simulated coverage of the interval is in the tests.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from console.core.statistics.intervals import Interval, wilson

LEAST = 5
"""Minimum number to be drawn from each stratum."""
CORRECTED = "double sampling"


@dataclass(frozen=True, slots=True)
class Stratum:
    """The verdicts of one kind that a judge gave."""

    judged: int
    """Number of verdicts."""
    labeled: int
    """Number of these that people graded."""
    passed: int
    """Number of graded ones that people passed."""

    @property
    def rate(self) -> float:
        return self.passed / self.labeled if self.labeled else 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of people's verdicts, with one pseudo-count towards ½."""
        rate = (self.passed + 0.5) / (self.labeled + 1)
        return math.sqrt(rate * (1 - rate))


def corrected_rate(strata: Sequence[Stratum], independent: float | None = None) -> Interval | None:
    """Return the share of all answers that people would pass, with its interval; None until each stratum has a label.

    Args:
        strata: answers passed by the judge, and answers failed by it.
        independent: number of independent cases; None if all are.
    """
    whole = sum(stratum.judged for stratum in strata)
    used = [stratum for stratum in strata if stratum.judged]
    if not used or not all(stratum.labeled for stratum in used):
        return None
    value = math.fsum(stratum.judged / whole * stratum.rate for stratum in used)
    count = whole if independent is None else min(independent, whole)
    low, high = wilson(value * count, count)
    down, up = (value - low) ** 2, (high - value) ** 2
    for stratum in used:
        weight = stratum.judged / whole * math.sqrt(max(0.0, 1 - stratum.labeled / stratum.judged))
        low, high = wilson(stratum.passed, stratum.labeled)
        down += (weight * (stratum.rate - low)) ** 2
        up += (weight * (high - stratum.rate)) ** 2
    labeled = sum(stratum.labeled for stratum in used)
    bounds = max(0.0, value - math.sqrt(down)), min(1.0, value + math.sqrt(up))
    return Interval(value, *bounds, whole, labeled, round(count), CORRECTED)


def next_stratum(strata: Sequence[Stratum]) -> int | None:
    """Return the index of the stratum to draw from next, or None if everything is labeled.

    Each stratum gets `LEAST` first; then the one furthest behind its share, in proportion to size times spread.
    """
    open_ones = [number for number, stratum in enumerate(strata) if stratum.labeled < stratum.judged]
    if not open_ones:
        return None
    few = [number for number in open_ones if strata[number].labeled < LEAST]
    if few:
        return min(few, key=lambda number: strata[number].labeled)
    return min(open_ones, key=lambda number: (strata[number].labeled + 1) / _share(strata[number]))


def _share(stratum: Stratum) -> float:
    return stratum.judged * stratum.spread


def half_width_after(strata: Sequence[Stratum], more: int, independent: float | None = None) -> float | None:
    """Return half of the interval's width after N more labels, at the same rates, or None if unknown."""
    listed = list(strata)
    for _ in range(more):
        number = next_stratum(listed)
        if number is None:
            break
        stratum = listed[number]
        grown = stratum.labeled + 1
        listed[number] = Stratum(stratum.judged, grown, min(grown, round(stratum.rate * grown)))
    interval = corrected_rate(listed, independent)
    if interval is None or interval.low is None or interval.high is None:
        return None
    return (interval.high - interval.low) / 2


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def sensitivity(passed: Stratum, failed: Stratum) -> Estimate | None:
    """Return the judge's pass rate among answers that people pass, or None if people passed none."""
    return _kept_share((passed.judged, passed.passed, passed.labeled), (failed.judged, failed.passed, failed.labeled))


def specificity(passed: Stratum, failed: Stratum) -> Estimate | None:
    """Return the judge's fail rate among answers that people fail, or None if people failed none."""
    refused = [(part.judged, part.labeled - part.passed, part.labeled) for part in (failed, passed)]
    return _kept_share(*refused)


_Counts = tuple[int, int, int]
"""Size of a stratum, number of labels with the verdict in question, number of labels."""


def _kept_share(own: _Counts, other: _Counts) -> Estimate | None:
    if not (own[2] and other[2]) or not (own[1] or other[1]):
        return None

    def share(own_rate: float, other_rate: float) -> float:
        kept, lost = own[0] * own_rate, other[0] * other_rate
        return kept / (kept + lost) if kept + lost else 0.0

    rates = own[1] / own[2], other[1] / other[2]
    (own_low, own_high), (other_low, other_high) = wilson(*own[1:]), wilson(*other[1:])
    value = share(*rates)
    down = math.hypot(value - share(own_low, rates[1]), value - share(rates[0], other_high))
    up = math.hypot(share(own_high, rates[1]) - value, share(rates[0], other_low) - value)
    return Estimate(value, max(0.0, value - down), min(1.0, value + up))
