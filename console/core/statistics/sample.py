"""Samples behind estimates: graded rollouts grouped by case, and cases grouped by cluster.

Rollouts of one case are not independent of each other, nor are cases of one cluster, such as variants of one question.
A sample therefore keeps the mean of each case over its rollouts, summed by cluster. Equal clusters are counted, which
keeps samples small, makes them add up exactly, and makes the order of records irrelevant.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

CasesByCounts = Mapping[int, Mapping[int, int]]
"""Number of cases by graded rollouts (first key) and passed rollouts (second key)."""
ClustersBySum = Mapping[int, Mapping[float, int]]
"""Number of clusters by cases (first key) and sum of the case means (second key)."""


_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Observation(NamedTuple):
    """One graded rollout."""

    case: str
    value: float
    """Score; 1 for passed and 0 for failed."""
    category: str = ""
    cluster: str = ""
    """Group of dependent cases within the category; empty if the case is independent."""


class Cluster(NamedTuple):
    """A number of equal clusters."""

    cases: int
    total: float
    """Sum of the case means."""
    times: int = 1
    """Number of such clusters."""


class Sample(msgspec.Struct, frozen=True):
    """Case means, grouped by cluster."""

    clusters: tuple[Cluster, ...]
    rollouts: int

    @property
    def cases(self) -> int:
        return sum(cluster.cases * cluster.times for cluster in self.clusters)

    @property
    def cluster_count(self) -> int:
        """Number of clusters; a case without a cluster counts as its own."""
        return sum(cluster.times for cluster in self.clusters)

    @property
    def exceptions(self) -> int:
        """For rates: number of clusters with a success or with a failure, whichever is smaller."""
        with_success = sum(cluster.times for cluster in self.clusters if cluster.total > 0)
        return min(with_success, sum(cluster.times for cluster in self.clusters if cluster.total < cluster.cases))

    @property
    def mean(self) -> float:
        """Mean of the case means; cases have equal weight, regardless of their number of rollouts."""
        return math.fsum(cluster.total * cluster.times for cluster in self.clusters) / self.cases

    @property
    def is_plain(self) -> bool:
        """True if each case was played once and is its own cluster, so that rollouts are independent."""
        return self.rollouts == self.cases == self.cluster_count

    @property
    def standard_error(self) -> float:
        """Cluster-robust standard error of the mean: sqrt(G/(G-1) sum over g of (sum in g of x - mean)^2) / n.

        NaN for fewer than two clusters.
        """
        count, mean = self.cluster_count, self.mean
        if count < 2:
            return math.nan
        squares = math.fsum(cluster.times * (cluster.total - cluster.cases * mean) ** 2 for cluster in self.clusters)
        return math.sqrt(count / (count - 1) * squares) / self.cases


class Counts(NamedTuple):
    """Passed and failed rollouts of a run or a category, as counted by a tally."""

    cases: CasesByCounts
    """All graded cases."""
    clustered: CasesByCounts = _NOTHING
    """Cases that name a cluster."""
    clusters: ClustersBySum = _NOTHING
    """Clusters, each within one category."""


def sample_of_counts(*parts: Counts) -> Sample:
    """Combine the counts of disjoint parts, such as categories, into a sample.

    Cases without a cluster count as their own, and so do all cases if there is only one cluster, which shows no spread.
    """
    clusters = [
        Cluster(size, total, times)
        for part in parts
        for size, sums in part.clusters.items()
        for total, times in sums.items()
    ]
    for part in parts:
        clusters += _single_cases(part.cases, part.clustered)
    if sum(cluster.times for cluster in clusters) < 2:
        clusters = [cluster for part in parts for cluster in _single_cases(part.cases, {})]
    rollouts = (
        played * times for part in parts for played, by_passed in part.cases.items() for times in by_passed.values()
    )
    return Sample(_in_order(clusters), sum(rollouts))


def _single_cases(cases: CasesByCounts, without: CasesByCounts) -> list[Cluster]:
    return [
        Cluster(1, passed / played, times - without.get(played, {}).get(passed, 0))
        for played, by_passed in cases.items()
        for passed, times in by_passed.items()
    ]


def sample_of(observations: Iterable[Observation]) -> Sample:
    """Return the sample of the given rollouts."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for case, value, category, cluster in observations:
        values[category, cluster, case].append(value)
    alone: list[float] = []
    by_cluster: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (category, cluster, _), scores in values.items():
        means = by_cluster[category, cluster] if cluster else alone
        means.append(math.fsum(scores) / len(scores))
    if not alone and len(by_cluster) == 1:
        [alone], by_cluster = by_cluster.values(), {}
    clusters = [Cluster(1, mean, times) for mean, times in Counter(alone).items()]
    clusters += [Cluster(len(means), math.fsum(means)) for means in by_cluster.values()]
    return Sample(_in_order(clusters), sum(map(len, values.values())))


def _in_order(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """Merge equal clusters, in order, so that equal samples have identical numbers to the last bit."""
    times: Counter[tuple[int, float]] = Counter()
    for cluster in clusters:
        times[cluster.cases, cluster.total] += cluster.times
    return tuple(Cluster(*alike, count) for alike, count in sorted(times.items()) if count)
