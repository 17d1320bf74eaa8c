"""The effect of a change on a whole recorded run, estimated from cases drawn from it in strata.

Each stratum contains cases with similar results in the recording, such as failures chosen for that reason. Their mean
change is weighted by the stratum's share of the run, which makes the estimate unbiased although cases were chosen by
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
"""Minimum number of clusters for treating Student's distribution as normal."""
FLIP = 0.5
"""Half a changed verdict, added to the observed changes."""


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
    """Two-sided p of no change, for a single look."""
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
    """Return the mean change over all cases of a run, or None if a stratum has no drawn case.

    The variance is the sum over strata of (t W se)^2, W being a stratum's share of the run, se the standard error over
    its drawn cases (or their clusters) and t Student's quantile; and of z^2 times `own_luck`. There is no correction
    for a stratum that is drawn whole, as the chance in the new play remains: with one, intervals cover 74 to 93 %.
    `flip` is added to each sum of squares, since few cases often show none of the rare changes: without it, 12 % of
    false alarms.

    Args:
        strata: the strata of the run.
        own_luck: variance of the recorded mean due to chance, p (1 - p) / N for a rate; 0 if the drawn cases are
            compared with an arm played at the same time.
        flip: a part of the square of a case's largest change; 0 if that is unlimited.
        largest: largest possible change, which the interval does not exceed; infinite if that is unlimited.
        boundary: of the looks at the experiment; the chance in the recording counts equally at each look.
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
