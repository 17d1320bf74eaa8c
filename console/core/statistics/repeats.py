"""Statistics of repeated cases: pass@k, pass^k, flaky cases, and the sources of a rate's variance."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import CasesByCounts, Observation, sample_of


@dataclass(frozen=True, slots=True)
class CaseCount:
    """Graded rollouts of one case."""

    case: str
    passed: int
    graded: int
    category: str = ""
    cluster: str = ""


def pass_at(k: int, passed: int, graded: int) -> float:
    """Return pass@k, the probability that at least one of k rollouts passes: 1 - C(r-c, k)/C(r, k) (Chen et al. 2021).

    Raises:
        ValueError: fewer than k rollouts, or k below 1.
    """
    return 1 - _share(k, graded - passed, graded)


def pass_all(k: int, passed: int, graded: int) -> float:
    """Return pass^k, the probability that all of k rollouts pass: C(c, k)/C(r, k) (Yao et al. 2024).

    Raises:
        ValueError: fewer than k rollouts, or k below 1.
    """
    return _share(k, passed, graded)


def _share(k: int, chosen: int, graded: int) -> float:
    if not 1 <= k <= graded:
        raise ValueError(f"{k} of {graded} rollouts cannot be drawn")
    return math.comb(chosen, k) / math.comb(graded, k)


@dataclass(frozen=True, slots=True)
class PassK:
    """pass@k and pass^k over the cases that have at least k graded rollouts."""

    k: int
    at: Interval
    """pass@k: at least one of k passes."""
    all: Interval
    """pass^k: all of k pass."""


_ROUND_K = (1, 2, 5)
"""pass@k and pass^k are reported for these k, for their multiples by powers of ten, and for the maximum."""


def pass_k(cases: Iterable[CaseCount]) -> list[PassK]:
    """Return pass@k and pass^k for 1, 2, 5, 10, 20 … and the maximum number of rollouts, over cases with at least k."""
    listed = [case for case in cases if case.graded]
    return [_pass_k(k, listed) for k in _listed_ks(max((case.graded for case in listed), default=0))]


def _listed_ks(most: int) -> list[int]:
    ks = (k * 10**power for power in range(len(str(most))) for k in _ROUND_K)
    return [*(k for k in ks if k < most), *([most] if most else [])]


def _pass_k(k: int, cases: Iterable[CaseCount]) -> PassK:
    enough = [case for case in cases if case.graded >= k]
    at, every = (
        _played(
            rate_interval(
                sample_of(
                    Observation(case.case, value, case.category, case.cluster)
                    for case in enough
                    for value in [estimate(k, case.passed, case.graded)] * case.graded
                )
            )
        )
        for estimate in (pass_at, pass_all)
    )
    return PassK(k, at, every)


def _played(interval: Interval | None) -> Interval:
    assert interval is not None  # some case has at least k rollouts
    return interval


def pass_rates(counts: CasesByCounts) -> tuple[int, float, float] | None:
    """Return the largest number of rollouts k with pass@k and pass^k for it, or None if no case was repeated."""
    k = max(counts, default=0)
    if k < 2:
        return None
    cases = sum(counts[k].values())
    at = math.fsum(times * pass_at(k, passed, k) for passed, times in counts[k].items()) / cases
    every = math.fsum(times * pass_all(k, passed, k) for passed, times in counts[k].items()) / cases
    return k, at, every


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Sources of the variance of a case's result."""

    within: float
    """Mean variance of one rollout around its case's rate (sampling); falls with the number of rollouts."""
    between: float
    """Variance of the cases' true rates; falls only with the number of cases."""
    cases: int
    rollouts: float
    """Mean number of rollouts per case."""

    @property
    def within_share(self) -> float:
        """Share of a single rollout's variance that is sampling; 0 if nothing varies."""
        whole = self.within + self.between
        return self.within / whole if whole else 0.0

    def standard_error(self, cases: float = 1.0, rollouts: float = 1.0) -> float:
        """Return the standard error of the rate at a multiple of cases and rollouts."""
        return math.sqrt((self.between + self.within / (self.rollouts * rollouts)) / (self.cases * cases))


def variance_split(counts: CasesByCounts) -> VarianceSplit | None:
    """Split the variance of passing into sampling within cases and differences between them (one-way ANOVA).

    Both estimates are unbiased; a negative one between cases counts as 0. None with fewer than two repeated cases.
    """
    groups = [
        (played, passed, count)
        for played, by_passed in counts.items()
        for passed, count in by_passed.items()
        if played > 1 and count
    ]
    cases = sum(count for _, _, count in groups)
    if cases < 2:
        return None
    mean = math.fsum(count * passed / played for played, passed, count in groups) / cases
    within_of = [
        (passed * (played - passed) / (played * (played - 1)), played, count) for played, passed, count in groups
    ]
    within = math.fsum(count * value for value, _, count in within_of) / cases
    of_means = math.fsum(count * (passed / played - mean) ** 2 for played, passed, count in groups) / (cases - 1)
    sampling = math.fsum(count * value / played for value, played, count in within_of) / cases
    rollouts = cases / math.fsum(count / played for played, _, count in groups)
    return VarianceSplit(within, max(0.0, of_means - sampling), cases, rollouts)


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """Sources of the variance of a grade when each answer was graded several times by the same judge."""

    cases: float
    """Variance of the cases' true means; with one answer per case, its sampling is part of it."""
    sampling: float | None
    """Variance of the answers to a case; None with one answer per case."""
    judge: float
    """Variance of the grades of one answer."""
    flipped: float
    """Share of answers whose grades differ."""
    graded_cases: int
    answers: float
    """Mean number of answers per case."""
    repeats: float
    """Mean number of grades per answer."""

    @property
    def shares(self) -> tuple[float, float | None, float]:
        """Shares of cases, sampling and judge in the variance of one grade; zeros if nothing varies."""
        whole = self.cases + (self.sampling or 0.0) + self.judge
        if not whole:
            return 0.0, None if self.sampling is None else 0.0, 0.0
        return self.cases / whole, None if self.sampling is None else self.sampling / whole, self.judge / whole

    def noise_between_runs(self, answers: float = 1.0, repeats: float = 1.0) -> float:
        """Return the difference that two runs on these cases exceed by chance 5 % of the time.

        Args:
            answers: answers per case.
            repeats: grades per answer.
        """
        of_a_case = ((self.sampling or 0.0) + self.judge / repeats) / answers
        return 1.96 * math.sqrt(2 * of_a_case / self.graded_cases)


def judge_noise(grades: Iterable[Sequence[Sequence[float]]]) -> JudgeNoise | None:
    """Split the variance of grades into cases, sampling and judge (nested ANOVA); None below two graded cases.

    Args:
        grades: for each case, for each of its answers, all grades of it.
    """
    cases = [[list(answer) for answer in case if len(answer) > 1] for case in grades]
    cases = [case for case in cases if case]
    if len(cases) < 2:
        return None
    answers = [answer for case in cases for answer in case]
    judge = math.fsum(map(_variance, answers)) / len(answers)
    repeats = len(answers) / math.fsum(1 / len(answer) for answer in answers)
    means = [[math.fsum(answer) / len(answer) for answer in case] for case in cases]
    repeated = [case for case in means if len(case) > 1]
    sampling = None
    if repeated:
        sampling = max(0.0, math.fsum(map(_variance, repeated)) / len(repeated) - judge / repeats)
    per_case = len(cases) / math.fsum(1 / len(case) for case in means)
    of_means = _variance([math.fsum(case) / len(case) for case in means])
    between = max(0.0, of_means - ((sampling or 0.0) + judge / repeats) / per_case)
    flipped = sum(len(set(answer)) > 1 for answer in answers) / len(answers)
    return JudgeNoise(between, sampling, judge, flipped, len(cases), len(answers) / len(cases), repeats)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
