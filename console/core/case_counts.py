"""Graded rollouts by case and cases by cluster, maintained incrementally in a run's tallies."""

import math
from collections.abc import Hashable, Sequence
from sys import intern
from typing import TypeVar

import msgspec

from console.core.case import Case
from console.core.run import Tally

KeyT = TypeVar("KeyT", bound=Hashable)
_COUNTS: dict[tuple[int, int], tuple[int, int]] = {}
"""Interned pairs of counts; most cases of a run share the same few."""


class ClusterCounts(msgspec.Struct):
    """Graded cases of one cluster."""

    cases: int = 0
    passed: dict[int, int] = msgspec.field(default_factory=dict[int, int])
    """Total passed rollouts by number of graded rollouts; integers, so the order of additions does not matter."""

    @property
    def total(self) -> float:
        """Sum of the pass rates of its cases."""
        return math.fsum(passed / graded for graded, passed in sorted(self.passed.items()))

    def add(self, passed: int, graded: int, sign: int) -> None:
        """Add a case, or remove it with a negative sign."""
        self.cases += sign
        _add(self.passed, graded, sign * passed)


class CaseCounts(msgspec.Struct):
    """Passed and graded rollouts of each case."""

    by_case: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict[str, tuple[int, int]])
    """Passed and graded rollouts by case id."""
    cluster_of: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Category and cluster, joined, by id of each case that names a cluster."""
    by_cluster: dict[str, ClusterCounts] = msgspec.field(default_factory=dict[str, ClusterCounts])

    def name_cluster(self, case: Case) -> None:
        """Record a case's cluster before its rollouts are counted; clusters lie within a category."""
        if case.cluster:
            self.cluster_of[case.id] = intern(f"{case.category}\n{case.cluster}")

    def cluster(self, case: str) -> str:
        """Return the cluster of a case; empty if it has none."""
        return self.cluster_of.get(case, "").partition("\n")[2]

    def count(self, case: str, passed: int, graded: int, tallies: Sequence[Tally]) -> None:
        """Add or remove a graded rollout and update the tallies.

        Args:
            case: case id.
            passed: 1 for a passed rollout, -1 to remove one, 0 for a failed one.
            graded: 1 to add, -1 to remove.
            tallies: those of the run and of the case's category.
        """
        before = self.by_case.get(case, (0, 0))
        after = (before[0] + passed, before[1] + graded)
        name = self.cluster_of.get(case)
        for tally in tallies:
            _move(tally.cases, before, after)
            if name is not None:
                _move(tally.clustered, before, after)
        if after[1]:
            self.by_case[case] = _COUNTS.setdefault(after, after)
        else:
            self.by_case.pop(case, None)
        if name is not None:
            self._count_in_cluster(name, before, after, tallies)

    def _count_in_cluster(
        self, name: str, before: tuple[int, int], after: tuple[int, int], tallies: Sequence[Tally]
    ) -> None:
        cluster = self.by_cluster.setdefault(name, ClusterCounts())
        old = (cluster.cases, cluster.total)
        for counts, sign in ((before, -1), (after, 1)):
            if counts[1]:
                cluster.add(*counts, sign)
        for tally in tallies:
            for (cases, total), sign in ((old, -1), ((cluster.cases, cluster.total), 1)):
                if cases:
                    _count(tally.clusters, cases, total, sign)


def _move(cases: dict[int, dict[int, int]], before: tuple[int, int], after: tuple[int, int]) -> None:
    for (passed, graded), sign in ((before, -1), (after, 1)):
        if graded:
            _count(cases, graded, passed, sign)


def _count(counts: dict[int, dict[KeyT, int]], first: int, second: KeyT, sign: int) -> None:
    inner = counts.get(first)
    if inner is None:
        inner = counts[first] = {}
    left = inner.get(second, 0) + sign
    if left:
        inner[second] = left
    else:
        del inner[second]
        if not inner:
            del counts[first]


def _add(counts: dict[KeyT, int], key: KeyT, amount: int) -> None:
    """Change a count and drop it at zero."""
    left = counts.get(key, 0) + amount
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)
