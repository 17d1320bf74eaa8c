"""What an estimate rests on: graded rollouts, grouped by case, and cases grouped by cluster.

Rollouts of one case are not independent of each other, nor are cases of one cluster, such as variants of one question.
A sample therefore keeps the mean of each case over its rollouts, summed up by cluster. How often equal clusters occur
is counted, which keeps samples small, makes them add up exactly, and makes the order of records indifferent.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

CasesByCounts = Mapping[int, Mapping[int, int]]
"""How many cases have so many graded rollouts (first key), of which so many passed (second key)."""
ClustersBySum = Mapping[int, Mapping[float, int]]
"""How many clusters have so many cases (first key), whose means sum up to this (second key)."""


_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Observation(NamedTuple):
    """One graded rollout."""

    case: str
    value: float
    """Its score; 1 for passed and 0 for failed."""
    category: str = ""
    cluster: str = ""
    """What its case shares with others of the category; empty: nothing."""


class Cluster(NamedTuple):
    """Clusters that are alike."""

    cases: int
    total: float
    """Sum of the means of its cases."""
    times: int = 1
    """How many such clusters there are."""


class Sample(msgspec.Struct, frozen=True):
    """Case means by cluster."""

    clusters: tuple[Cluster, ...]
    rollouts: int

    @property
    def cases(self) -> int:
        """How many cases it has."""
        return sum(cluster.cases * cluster.times for cluster in self.clusters)

    @property
    def cluster_count(self) -> int:
        """How many clusters it has; a case is a cluster of its own when no other is known."""
        return sum(cluster.times for cluster in self.clusters)

    @property
    def exceptions(self) -> int:
        """Of rates: how many clusters hold a success, or how many hold a failure, whichever are fewer."""
        with_success = sum(cluster.times for cluster in self.clusters if cluster.total > 0)
        return min(with_success, sum(cluster.times for cluster in self.clusters if cluster.total < cluster.cases))

    @property
    def mean(self) -> float:
        """Mean of the case means; cases weigh the same however often they were played."""
        return math.fsum(cluster.total * cluster.times for cluster in self.clusters) / self.cases

    @property
    def is_plain(self) -> bool:
        """Whether each case was played once and stands for itself, so that rollouts are independent."""
        return self.rollouts == self.cases == self.cluster_count

    @property
    def standard_error(self) -> float:
        """Cluster-robust standard error of the mean: sqrt(G/(G-1) sum over g of (sum in g of x - mean)^2) / n.

        Not a number for fewer than two clusters.
        """
        count, mean = self.cluster_count, self.mean
        if count < 2:
            return math.nan
        squares = math.fsum(cluster.times * (cluster.total - cluster.cases * mean) ** 2 for cluster in self.clusters)
        return math.sqrt(count / (count - 1) * squares) / self.cases


class Counts(NamedTuple):
    """The passed and failed rollouts of a run or a category, as a tally counts them."""

    cases: CasesByCounts
    """All graded cases."""
    clustered: CasesByCounts = _NOTHING
    """Those of them that name a cluster."""
    clusters: ClustersBySum = _NOTHING
    """The clusters they name, each within one category."""


def sample_of_counts(*parts: Counts) -> Sample:
    """Return the sample of parts that have no case in common, such as categories.

    Cases that name no cluster stand for themselves, and so do all where there is but one cluster, which shows no
    spread.
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
    """Return the sample of listed rollouts."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    cluster_of: dict[tuple[str, str], tuple[str, str, str]] = {}
    rollouts = 0
    for observation in observations:
        case = (observation.category, observation.case)
        values[case].append(observation.value)
        alone = "" if observation.cluster else observation.case
        cluster_of[case] = (observation.category, observation.cluster, alone)
        rollouts += 1
    by_cluster: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for case, scores in values.items():
        by_cluster[cluster_of[case]].append(math.fsum(scores) / len(scores))
    if len(by_cluster) < 2:
        means = [mean for of_cluster in by_cluster.values() for mean in of_cluster]
        by_cluster = {("", "", str(number)): [mean] for number, mean in enumerate(means)}
    counts = Counter((len(means), math.fsum(means)) for means in by_cluster.values())
    return Sample(_in_order(Cluster(size, total, count) for (size, total), count in counts.items()), rollouts)


def _in_order(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """Return clusters that are alike as one, so that equal samples have equal numbers to the last bit."""
    times: Counter[tuple[int, float]] = Counter()
    for cluster in clusters:
        times[cluster.cases, cluster.total] += cluster.times
    return tuple(Cluster(*alike, count) for alike, count in sorted(times.items()) if count)
