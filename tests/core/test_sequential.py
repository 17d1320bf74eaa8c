"""Looks and boundaries: constants against published tables, and error rates, coverage and savings by simulation."""

import itertools
import math
import random
from collections import Counter

import pytest

from console.core.statistics.decision import Decision, decide
from console.core.statistics.distributions import t_quantile
from console.core.statistics.intervals import rate_interval
from console.core.statistics.sample import Cluster, Observation, Sample
from console.core.statistics.sequential import (
    Boundary,
    boundary_constant,
    even_looks,
    is_narrow,
    paired,
    race,
    width_looks,
)


def even(count: int) -> tuple[float, ...]:
    return tuple(step / count for step in range(1, count + 1))


@pytest.mark.parametrize(
    ("looks", "alpha", "shape", "published"),
    [
        (1, 0.05, 0.25, 1.960),
        (2, 0.05, 0.25, 2.038),
        (5, 0.05, 0.25, 2.136),
        (5, 0.05, 0.5, 2.413),
        (5, 0.05, 0.0, 2.040),
        (10, 0.05, 0.5, 2.555),
        (20, 0.05, 0.25, 2.248),
    ],
)
def test_constants_equal_the_published_ones(looks: int, alpha: float, shape: float, published: float) -> None:
    """Jennison and Turnbull 2000, tables 2.1, 2.3 and 2.9; the last follows from the same integral."""
    assert boundary_constant(even(looks), alpha, shape) == pytest.approx(published, abs=1.5e-3)


def test_a_single_look_is_the_ordinary_test() -> None:
    assert Boundary().critical(1, 41) == pytest.approx(t_quantile(40), abs=1e-6)
    sample = Sample((Cluster(1, 0.0, 70), Cluster(1, -1.0, 20), Cluster(1, 1.0, 10)), 100)
    low, high = Boundary().interval(sample, 1)
    assert (low + high) / 2 == pytest.approx(-0.1)
    assert high - low == pytest.approx(2 * t_quantile(99) * sample.standard_error, abs=1e-6)


def test_looks_start_when_enough_is_known() -> None:
    assert even_looks([1] * 1000, least_units=10, least_cases=30)[0] == (50, 0.05)
    assert [cases for cases, _ in even_looks([10] * 40, least_units=10, least_cases=30)][:2] == [100, 120]
    assert even_looks([1] * 12, least_units=10, least_cases=30) == [(12, 1.0)]
    assert even_looks([1] * 3) == [(1, 1 / 3), (2, 2 / 3), (3, 1.0)]
    assert even_looks([]) == []
    assert width_looks([1] * 100) == [40, 60, 80, 100]
    assert width_looks([30, 30, 30]) == [60, 90]
    assert width_looks([1] * 7) == [7]


def test_no_spread_counts_as_one_exception() -> None:
    low, high = Boundary().interval(Sample((Cluster(1, 0.0, 50),), 50), 1)
    assert high == pytest.approx(t_quantile(49) / 50, abs=1e-6)
    assert low == -high
    assert Boundary().interval(Sample((Cluster(1, 0.0, 1),), 1), 1) == (-math.inf, math.inf)


def ends(truth: float, seed: int, cases: int = 1000) -> tuple[Decision, int]:
    """Play one run against a baseline that differs in 18 % of the cases, with a margin of a point."""
    looks = even_looks([1] * cases, least_units=10, least_cases=30)
    boundary, source, counts = Boundary(tuple(share for _, share in looks)), random.Random(seed), Counter[float]()
    for number, (upto, _) in enumerate(looks, 1):
        counts.update(
            source.choices((1.0, -1.0, 0.0), (0.09 + truth / 2, 0.09 - truth / 2, 0.82), k=upto - counts.total())
        )
        sample = Sample(tuple(Cluster(1, value, times) for value, times in counts.items()), upto)
        decision = decide(*boundary.interval(sample, number), -0.01, -0.01)
        if decision is not Decision.CANNOT_TELL:
            return decision, upto
    return Decision.CANNOT_TELL, cases


@pytest.mark.parametrize(
    ("truth", "runs", "worse", "not_worse", "most"),
    [(-0.01, 1500, (0.01, 0.033), (0.01, 0.033), 1000), (-0.1, 150, (0.98, 1), (0, 0), 290),
     (0.0, 150, (0, 0.02), (0.02, 0.2), 1000), (0.1, 150, (0, 0), (0.98, 1), 240)],
)  # fmt: skip
def test_errors_and_savings(
    truth: float, runs: int, worse: tuple[float, float], not_worse: tuple[float, float], most: float
) -> None:
    ended = [ends(truth, seed) for seed in range(runs)]
    shares = Counter(decision for decision, _ in ended)
    assert worse[0] <= shares[Decision.WORSE] / runs <= worse[1]
    assert not_worse[0] <= shares[Decision.NOT_WORSE] / runs <= not_worse[1]
    assert sum(cases for _, cases in ended) / runs <= most


@pytest.mark.parametrize(("rate", "cases"), [(0.02, (110, 140)), (0.3, (850, 950)), (0.9, (360, 440))])
def test_coverage_of_runs_that_end_at_a_width(rate: float, cases: tuple[int, int]) -> None:
    covered, played = 0, list[int]()
    for seed in range(300):
        source, passed, done = random.Random(seed), 0, 0
        for upto in width_looks([1] * 2000):
            passed, done = passed + sum(source.random() < rate for _ in range(upto - done)), upto
            interval = rate_interval(Sample((Cluster(1, 0.0, done - passed), Cluster(1, 1.0, passed)), done))
            if is_narrow(interval, 0.03):
                break
        assert interval is not None
        covered += (interval.low or 0) <= rate <= (interval.high or 0)
        played.append(done)
    assert 0.91 <= covered / 300 <= 0.99
    assert cases[0] <= sum(played) / 300 <= cases[1]


def test_a_race_drops_who_is_worse_than_the_leader() -> None:
    cases = [str(n) for n in range(200)]
    values = {
        "good": [Observation(case, float(int(case) % 10 > 0)) for case in cases],
        "even": [Observation(case, float(int(case) % 10 > 1)) for case in cases],
        "poor": [Observation(case, float(int(case) % 10 > 6)) for case in cases],
    }
    leader, standings = race(values, Boundary(alpha=0.025), 1)
    assert leader == "good"
    assert {name: standing.is_out for name, standing in standings.items()} == {
        "good": False,
        "even": True,
        "poor": True,
    }
    assert standings["poor"].difference == pytest.approx(-0.6)
    assert not race({name: listed[:30] for name, listed in values.items()}, Boundary(), 1)[1]["even"].is_out


def test_pairs_are_means_over_rollouts_of_cases_that_both_have() -> None:
    a = [Observation("x", 1.0), Observation("x", 0.0), Observation("y", 1.0)]
    b = [Observation("x", 1.0), Observation("z", 1.0)]
    assert paired(a, b) == [Observation("x", 0.5)]


def test_bounds_decide() -> None:
    for low, high in itertools.pairwise((-0.2, -0.05, 0.0, 0.3)):
        decision = decide(low, high, -0.02, -0.02)
        expected = {(-0.2, -0.05): Decision.WORSE, (-0.05, 0.0): Decision.CANNOT_TELL, (0.0, 0.3): Decision.NOT_WORSE}
        assert decision is expected[low, high]
