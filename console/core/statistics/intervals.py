"""Intervals of rates, means, sums and weighted means."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from console.core.statistics.distributions import Z95, t_quantile
from console.core.statistics.sample import Cluster, Sample

FEW_CLUSTERS = 15
"""Below this many clusters, a clustered interval covers the truth less than 95 % of the time."""
FEW_CLUSTERS_WORDS = "few clusters: the interval is rough"

WILSON = "wilson"
CLUSTERED_WILSON = "clustered wilson"
WILSON_OVER_CLUSTERS = "wilson over clusters"
CLUSTERED_T = "clustered t"
BOOTSTRAP = "bootstrap"
REPEATS_T = "t over repeats"
WEIGHTED = "weighted"
REPEATED = "repeated t"
"""Method of an interval that covers the truth at all looks together."""
_FEW_EXCEPTIONS = 5
"""Minimum number of clusters with a success, and with a failure, for estimating within-cluster correlation."""
_NO_SPREAD = 1e-9
"""Standard errors of rates below this are rounding errors."""
_CLUSTERED = (CLUSTERED_WILSON, WILSON_OVER_CLUSTERS, CLUSTERED_T)


class Interval(msgspec.Struct, frozen=True):
    """An estimate with its 95 % interval and the size of its sample."""

    value: float
    low: float | None = None
    """None if the spread is unknown."""
    high: float | None = None
    cases: int = 0
    rollouts: int = 0
    clusters: int = 0
    method: str = ""
    """Method of the interval; empty if there is none."""

    @property
    def is_rough(self) -> bool:
        """True if there are so few clusters that the interval may be too narrow."""
        return self.method in _CLUSTERED and self.clusters < FEW_CLUSTERS

    @property
    def caution(self) -> str:
        """Warning about the interval; empty if it can be trusted."""
        return FEW_CLUSTERS_WORDS if self.is_rough else ""


def wilson(passed: float, graded: float, z: float = Z95) -> tuple[float, float]:
    """Return the two-sided Wilson score interval of a rate, 95 % by default; (0, 1) if nothing is graded."""
    if graded == 0:
        return 0.0, 1.0
    rate, square = passed / graded, z * z
    centre = (rate + square / (2 * graded)) / (1 + square / graded)
    half = z / (1 + square / graded) * math.sqrt(rate * (1 - rate) / graded + square / (4 * graded * graded))
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == graded else min(1.0, centre + half)
    return low, high


def rate_interval(sample: Sample) -> Interval | None:
    """Return a rate with its interval, or None if nothing was graded.

    Cases played once and independent of each other: Wilson on the cases. Otherwise Wilson's formula with the number of
    independent cases that would give the clustered standard error, and Student's t with G - 1 degrees of freedom. If
    nearly all clusters agree, there is no spread to measure, and the clusters themselves are counted.
    """
    if not sample.cases:
        return None
    rate, count = sample.mean, sample.cluster_count
    if sample.is_plain:
        low, high = wilson(math.fsum(cluster.total * cluster.times for cluster in sample.clusters), sample.cases)
        return _interval(sample, rate, low, high, WILSON)
    error = sample.standard_error
    if count < 2 or error < _NO_SPREAD or sample.exceptions < _FEW_EXCEPTIONS:
        low, high = wilson(rate * count, count)
        return _interval(sample, rate, low, high, WILSON_OVER_CLUSTERS)
    effective = rate * (1 - rate) / (error * error)
    low, high = wilson(rate * effective, effective, t_quantile(count - 1))
    return _interval(sample, rate, low, high, CLUSTERED_WILSON)


def bounded_interval(sample: Sample, low: float, high: float) -> Interval | None:
    """Return a mean of scores on a scale with an interval that stays on it; None if there are no cases.

    The scores are mapped to shares of the scale, and their mean is treated like a rate with the measured clustered
    standard error. If all clusters agree, the clusters themselves are counted.

    Args:
        sample: the scores.
        low: lower end of the scale; every score lies between both ends.
        high: upper end.
    """
    if not sample.cases:
        return None
    count, width = sample.cluster_count, high - low
    if count < 2:
        return Interval(sample.mean, None, None, sample.cases, sample.rollouts, count)
    share, error = (sample.mean - low) / width, sample.standard_error / width
    share = min(max(share, 0.0), 1.0)
    if error < _NO_SPREAD:
        bounds, method = wilson(share * count, count), WILSON_OVER_CLUSTERS
    else:
        effective = share * (1 - share) / (error * error)
        bounds, method = wilson(share * effective, effective, t_quantile(count - 1)), CLUSTERED_WILSON
    return _interval(sample, sample.mean, low + bounds[0] * width, low + bounds[1] * width, method)


def mean_interval(sample: Sample) -> Interval | None:
    """Return a mean with its interval by clustered standard error and Student's t; None if there are no cases."""
    if not sample.cases:
        return None
    if sample.cluster_count < 2:
        return Interval(sample.mean, None, None, sample.cases, sample.rollouts, sample.cluster_count)
    half = t_quantile(sample.cluster_count - 1) * sample.standard_error
    return _interval(sample, sample.mean, sample.mean - half, sample.mean + half, CLUSTERED_T)


def score_interval(sample: Sample, scale: tuple[float, float] | None) -> Interval | None:
    """Return a mean score with an interval that stays on its scale; None if there are no cases.

    Args:
        sample: the scores.
        scale: lowest and highest value; without one, or if a score lies outside it, the interval has no bounds.
    """
    if scale is None or not all(scale[0] <= each.total / each.cases <= scale[1] for each in sample.clusters):
        return mean_interval(sample)
    return bounded_interval(sample, *scale)


def _interval(sample: Sample, value: float, low: float, high: float, method: str) -> Interval:
    return Interval(value, low, high, sample.cases, sample.rollouts, sample.cluster_count, method)


class Part(NamedTuple):
    """Contribution of one rollout to both sums of a ratio."""

    case: str
    above: float
    below: float
    cluster: str = ""
    """Empty if the case is its own cluster."""


def ratio_interval(parts: Sequence[Part]) -> Interval | None:
    """Return a ratio of two sums, such as successful turns over turns, with its clustered interval.

    Linearized: the residuals a - ratio * b replace deviations from the mean. A single cluster shows no spread; its
    cases then count as clusters.

    Args:
        parts: of all rollouts; the ratio is between 0 and 1. Returns None if the denominator is 0.
    """
    below = math.fsum(part.below for part in parts)
    if not below:
        return None
    ratio, cases = math.fsum(part.above for part in parts) / below, len({part.case for part in parts})
    residuals: dict[str, float] = {}
    with_success, with_failure = set[str](), set[str]()
    by_case = len({part.cluster or part.case for part in parts}) < 2
    for part in parts:
        name = part.case if by_case else part.cluster or part.case
        residuals[name] = residuals.get(name, 0.0) + part.above - ratio * part.below
        with_success |= {name} if part.above > 0 else set()
        with_failure |= {name} if part.above < part.below else set()
    count, exceptions = len(residuals), min(len(with_success), len(with_failure))
    if count < 2:
        return Interval(ratio, None, None, cases, len(parts), count)
    error = Sample(tuple(Cluster(1, value) for value in residuals.values()), count).standard_error * count / below
    basis = (cases, len(parts), count)
    if error < _NO_SPREAD or exceptions < _FEW_EXCEPTIONS:
        return Interval(ratio, *wilson(ratio * count, count), *basis, WILSON_OVER_CLUSTERS)
    effective = ratio * (1 - ratio) / (error * error)
    return Interval(ratio, *wilson(ratio * effective, effective, t_quantile(count - 1)), *basis, CLUSTERED_WILSON)


def weighted_interval(value: float, parts: Iterable[tuple[float, Interval]]) -> Interval:
    """Return the interval of a weighted mean of independent parts, from those of the parts (Zou and Donner's MOVER).

    The variance is that of the parts times their squared weights; lower and upper distances are combined separately,
    as intervals of rates are not symmetric.

    Args:
        value: the weighted mean, between 0 and 1.
        parts: weight and interval of each part; parts without bounds add nothing.
    """
    listed = [(weight, part, part.low, part.high) for weight, part in parts]
    down = up = 0.0
    for weight, part, low, high in listed:
        if low is not None and high is not None:
            down += (weight * (part.value - low)) ** 2
            up += (weight * (high - part.value)) ** 2
    cases, rollouts = sum(part.cases for _, part, _, _ in listed), sum(part.rollouts for _, part, _, _ in listed)
    clusters = sum(part.clusters for _, part, _, _ in listed)
    low, high = max(0.0, value - math.sqrt(down)), min(1.0, value + math.sqrt(up))
    return Interval(value, low, high, cases, rollouts, clusters, WEIGHTED)


def repeats_interval(groups: Sequence[Sequence[float]]) -> Interval:
    """Return the sum of group means with its interval, each group being repeats of one question.

    The questions are fixed; only repeats vary. Each group is a stratum with its own variance; degrees of freedom after
    Welch and Satterthwaite. A group without repeats makes the interval unknown.
    """
    value, repeats = math.fsum(map(_mean, groups)), sum(map(len, groups))
    if not groups or any(len(group) < 2 for group in groups):
        return Interval(value, None, None, len(groups), repeats, len(groups))
    parts = [_variance_of_mean(group) for group in groups]
    total = math.fsum(parts)
    half = 0.0
    if total:
        weights = math.fsum(part * part / (len(group) - 1) for part, group in zip(parts, groups, strict=True))
        half = t_quantile(total * total / weights) * math.sqrt(total)
    return Interval(value, max(0.0, value - half), value + half, len(groups), repeats, len(groups), REPEATS_T)


def _mean(group: Sequence[float]) -> float:
    return math.fsum(group) / len(group)


def _variance_of_mean(group: Sequence[float]) -> float:
    mean = _mean(group)
    return math.fsum((item - mean) ** 2 for item in group) / (len(group) - 1) / len(group)


def bounds(interval: Interval | None) -> Mapping[str, object]:
    """Return the JSON fields of an interval other than its value: bounds, sample sizes and method."""
    if interval is None:
        return {}
    names = ("low", "high", "cases", "rollouts", "clusters", "method")
    return {name: getattr(interval, name) for name in names}
