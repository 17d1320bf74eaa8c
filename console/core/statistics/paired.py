"""Comparison of two runs on the same cases: paired differences with intervals, tests, and Holm's correction."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from console.core.statistics.distributions import Z95, t_quantile, t_tails
from console.core.statistics.intervals import (
    BOOTSTRAP,
    CLUSTERED_T,
    FEW_CLUSTERS,
    FEW_CLUSTERS_WORDS,
    wilson,
)
from console.core.statistics.resampling import bootstrap_mean, draws_for, sign_flip
from console.core.statistics.sample import Observation, sample_of

NEWCOMBE = "newcombe"
MCNEMAR = "exact mcnemar"
SIGN_FLIPS = "sign flips"
STUDENT = "t over clusters"
FEW_CASES = 15
"""Below this many cases, a percentile interval covers the truth less than 92 % of the time."""
SIGNIFICANT = 0.05
"""A p below this is reported as unlikely to be chance."""


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A over the common cases."""

    value: float
    low: float | None
    """95 % interval; None with too few cases."""
    high: float | None
    p: float | None
    """Two-sided p; None if there are no cases."""
    cases: int
    rollouts: int = 0
    """Number of pairs of rollouts."""
    clusters: int = 0
    method: str = ""
    """Method of the interval."""
    test: str = ""
    """Name of the test that gives p."""
    adjusted: float | None = None
    """p after Holm's correction, for one of several differences reported together."""
    failed_in: str = ""
    """The run that failed all of these cases if they were chosen for that: luck alone favors the other run."""

    @property
    def words(self) -> str:
        """Conclusion in plain words."""
        if self.failed_in:
            return f"no evidence: the cases were chosen because {self.failed_in} failed them"
        p = self.p if self.adjusted is None else self.adjusted
        if p is None:
            return "nothing to compare"
        if self.value == 0 and p >= 1:
            return "no difference"
        return "may be chance" if p >= SIGNIFICANT else "unlikely to be chance"

    @property
    def caution(self) -> str:
        """Warning about the interval; empty if it can be trusted."""
        if self.method == BOOTSTRAP and self.cases < FEW_CASES:
            return "few cases: the interval is too narrow"
        return FEW_CLUSTERS_WORDS if self.method == CLUSTERED_T and self.clusters < FEW_CLUSTERS else ""


NO_DIFFERENCE = Difference(0.0, None, None, None, 0)
"""Difference of runs without a graded case in common."""


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


def paired_rates(both: int, lost: int, gained: int, neither: int) -> Difference:
    """Return the difference of two rates over cases played once: Newcombe's interval, McNemar's p."""
    count = both + lost + gained + neither
    if not count:
        return NO_DIFFERENCE
    value, low, high = newcombe(both, lost, gained, neither)
    return Difference(value, low, high, mcnemar(lost, gained), count, count, count, NEWCOMBE, MCNEMAR)


def newcombe(both: int, lost: int, gained: int, neither: int, z: float = Z95) -> tuple[float, float, float]:
    """Return the difference of paired rates B - A with Newcombe's hybrid score interval (his method 10).

    Args:
        both: cases that both passed.
        lost: passed by A only.
        gained: passed by B only.
        neither: passed by neither.
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


def paired_observations(changes: Sequence[Observation], largest: float = math.inf) -> Difference:
    """Return the mean paired difference over cases, one observation for each rollout in both runs.

    Independent cases: percentile bootstrap over cases, and sign flips. Cases in clusters: clustered standard error with
    Student's t with G - 1 degrees of freedom, for both interval and p.

    Args:
        changes: B minus A.
        largest: maximum possible difference, 1 for rates; bounds the interval, which may exceed it with few clusters,
            unless a difference exceeds it.
    """
    if not changes:
        return NO_DIFFERENCE
    sample = sample_of(changes)
    if sample.cluster_count == sample.cases:
        return resampled(changes)
    if any(abs(change.value) > largest for change in changes):  # scores outside their scale
        largest = math.inf
    value, error, freedom = sample.mean, sample.standard_error, sample.cluster_count - 1
    half = t_quantile(freedom) * error
    p = t_tails(value / error, freedom) if error else float(value == 0)
    basis = (sample.cases, sample.rollouts, sample.cluster_count)
    return Difference(value, max(-largest, value - half), min(largest, value + half), p, *basis, CLUSTERED_T, STUDENT)


def resampled(changes: Sequence[Observation]) -> Difference:
    """Return the mean paired difference by resampling cases, ignoring clusters."""
    return replace(paired_mean(_case_means(changes)), rollouts=len(changes))


def _case_means(changes: Sequence[Observation]) -> list[float]:
    cases: dict[tuple[str, str], list[float]] = {}
    for change in changes:
        cases.setdefault((change.category, change.case), []).append(change.value)
    return [math.fsum(values) / len(values) for values in cases.values()]


def paired_mean(differences: Sequence[float]) -> Difference:
    """Return the mean paired difference, one value per case, with its percentile bootstrap interval over cases."""
    if not differences:
        return NO_DIFFERENCE
    mean = math.fsum(differences) / len(differences)
    low: float | None = None
    high: float | None = None
    if len(differences) > 1:
        low, high = bootstrap_mean(differences, draws=draws_for(len(differences), 2000))
    count = len(differences)
    method = "" if low is None else BOOTSTRAP
    return Difference(mean, low, high, sign_flip(differences), count, count, count, method, SIGN_FLIPS)


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values after Holm's correction (1979) for multiple comparisons, in the same order."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted, highest = [0.0] * len(ps), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - place) * ps[index]))
        adjusted[index] = highest
    return adjusted
