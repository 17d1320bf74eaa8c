"""The effect of a change on a whole recorded run, estimated from cases drawn of it in strata.

Each stratum holds cases that are alike in the recording, such as those that failed and were chosen because of it. Their
mean change counts with the stratum's share of the run, which makes the estimate fair although the cases were chosen by
their results. Simulated coverage and false alarms are in the tests.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from console.core.statistics.distributions import Z95
from console.core.statistics.sample import Observation, sample_of
from console.core.statistics.sequential import Boundary

_ONE_LOOK = Boundary()
_MANY = 1 << 30
"""Clusters with which Student's distribution is the normal one."""
FLIP = 0.5
"""Half of a changed verdict, added to what was seen."""


@dataclass(frozen=True, slots=True)
class DrawnStratum:
    """Cases drawn from one stratum."""

    size: int
    """Number of its cases in the recorded run."""
    changes: Sequence[Observation]
    """Change of each drawn case, as the mean over its rollouts."""


@dataclass(frozen=True, slots=True)
class WholeEffect:
    """The mean change over all cases of a run, with its 95 % interval."""

    value: float
    low: float
    high: float
    p: float
    """Two-sided p of no change, if it is looked at once."""
    cases: int
    """Number of drawn cases."""


def whole_effect(
    strata: Sequence[DrawnStratum],
    own_luck: float,
    *,
    flip: float = FLIP,
    largest: float = 1.0,
    boundary: Boundary = _ONE_LOOK,
    number: int = 1,
) -> WholeEffect | None:
    """Return the mean change over all cases of a run, or None if a stratum shows nothing of its cases.

    The variance is the sum over strata of (t W se)^2, W being a stratum's share of the run, se the standard error over
    its drawn cases (or their clusters) and t Student's quantile; and of z^2 times `own_luck`. There is no factor for a
    stratum that is drawn whole, as the luck of the new play stays: with it, intervals cover 74 to 93 %. To each sum of
    squares `flip` is added, as where changes are rare, few cases often show none: without it, 12 % of false alarms.

    Args:
        strata: the strata of the run.
        own_luck: variance of the recorded mean due to its own luck, p (1 - p) / N for a rate; 0 if the drawn cases are
            compared with others that were played with them.
        flip: a square of what a case can change by, as a part; 0 if that is unlimited.
        largest: largest possible change, which the interval does not exceed; infinite if that is unlimited.
        boundary: of the looks at the experiment; the luck of the recording counts at each look as at any other.
        number: number of the look, from 1.
    """
    used = [stratum for stratum in strata if stratum.size]
    whole = sum(stratum.size for stratum in used)
    value, square = 0.0, boundary.critical(number, _MANY) ** 2 * own_luck
    for stratum in used:
        drawn = len(stratum.changes)
        if not drawn:
            return None
        sample, share = sample_of(stratum.changes), stratum.size / whole
        value += share * sample.mean
        if sample.cluster_count < 2:
            return None
        quantile = boundary.critical(number, sample.cluster_count)
        spread = sample.standard_error**2 + flip / (drawn * (drawn - 1))
        square += (quantile * share) ** 2 * spread
    if not used:
        return None
    half = math.sqrt(square)
    p = math.erfc(abs(value) / (half / Z95) / math.sqrt(2)) if half else float(value == 0)
    low, high = max(-largest, value - half), min(largest, value + half)
    return WholeEffect(value, low, high, p, sum(len(stratum.changes) for stratum in used))
