"""Graded rollouts by case, and cases by cluster, kept up to date in the tallies of a run."""

import math
from collections.abc import Hashable, Sequence
from sys import intern
from typing import TypeVar

import msgspec

from console.core.case import Case
from console.core.run import Tally

KeyT = TypeVar("KeyT", bound=Hashable)
_COUNTS: dict[tuple[int, int], tuple[int, int]] = {}
"""Each pair of counts once: most cases of a run have the same few."""


class ClusterCounts(msgspec.Struct):
    """The graded cases of one cluster."""

    cases: int = 0
    passed: dict[int, int] = msgspec.field(default_factory=dict[int, int])
    """How many rollouts passed of the cases with so many graded rollouts: whole numbers, so that no order matters."""

    @property
    def total(self) -> float:
        """Sum of the rates of its cases."""
        return math.fsum(passed / graded for graded, passed in sorted(self.passed.items()))

    def add(self, passed: int, graded: int, sign: int) -> None:
        """Take a case in, or out again."""
        self.cases += sign
        _add(self.passed, graded, sign * passed)


class CaseCounts(msgspec.Struct):
    """How often each case passed. Starts with nothing known."""

    by_case: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict[str, tuple[int, int]])
    """Passed and graded rollouts of each case."""
    cluster_of: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Category and cluster of the cases that name one, as one name."""
    by_cluster: dict[str, ClusterCounts] = msgspec.field(default_factory=dict[str, ClusterCounts])

    def name_cluster(self, case: Case) -> None:
        """Take note of a case's cluster, before any of its rollouts is counted; clusters lie within a category."""
        if case.cluster:
            self.cluster_of[case.id] = intern(f"{case.category}\n{case.cluster}")

    def cluster(self, case: str) -> str:
        """Return the cluster that a case names; empty when it names none."""
        return self.cluster_of.get(case, "").partition("\n")[2]

    def count(self, case: str, passed: int, graded: int, tallies: Sequence[Tally]) -> None:
        """Add a graded rollout of a case, or take it away, and bring the tallies up to date.

        Args:
            case: its id.
            passed: 1 when it passed, -1 when such a one is taken away, else 0.
            graded: 1, or -1 when it is taken away.
            tallies: the run's and that of the case's category.
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
    inner = counts.setdefault(first, {})
    _add(inner, second, sign)
    if not inner:
        del counts[first]


def _add(counts: dict[KeyT, int], key: KeyT, amount: int) -> None:
    """Change a count; those of nothing are not kept."""
    left = counts.get(key, 0) + amount
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)
