"""A judge corrected by a sample of people's labels: what the interval holds, and what is drawn."""

import random

import pytest

from console.core.statistics.double_sampling import (
    Stratum,
    corrected_rate,
    half_width_after,
    next_stratum,
    sensitivity,
    specificity,
)

SETTINGS = [(300, 40, 0.9, 0.7), (300, 100, 0.8, 0.9), (1000, 60, 0.95, 0.5), (1000, 150, 0.99, 0.99)]
"""Cases, labels, sensitivity and specificity of the judge."""
RUNS = 400


def labeled_run(rng: random.Random, cases: int, labels: int, sens: float, spec: float, rate: float) -> list[Stratum]:
    """Simulate people's verdicts, a judge's, and the drawing of labels."""
    people = [rng.random() < rate for _ in range(cases)]
    judge = [rng.random() < (sens if right else 1 - spec) for right in people]
    left = [[right for right, says in zip(people, judge, strict=True) if says is passed] for passed in (True, False)]
    strata = [Stratum(len(part), 0, 0) for part in left]
    for part in left:
        rng.shuffle(part)
    for _ in range(labels):
        number = next_stratum(strata)
        if number is None:
            break
        old = strata[number]
        strata[number] = Stratum(old.judged, old.labeled + 1, old.passed + left[number].pop())
    return strata


@pytest.mark.parametrize(("cases", "labels", "sens", "spec"), SETTINGS)
def test_the_interval_holds_the_truth_in_93_of_100_runs_where_the_judge_alone_is_off(
    cases: int, labels: int, sens: float, spec: float
) -> None:
    rng, rate, held, off = random.Random(7), 0.68, 0, 0.0
    for _ in range(RUNS):
        strata = labeled_run(rng, cases, labels, sens, spec, rate)
        interval = corrected_rate(strata)
        assert interval is not None
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= rate <= interval.high
        off += strata[0].judged / cases - rate
    assert held / RUNS >= 0.93
    expected = rate * sens + (1 - rate) * (1 - spec) - rate
    assert off / RUNS == pytest.approx(expected, abs=0.01)


def test_five_of_each_are_drawn_first_and_then_more_where_more_is_unknown() -> None:
    strata = [Stratum(80, 0, 0), Stratum(20, 0, 0)]
    for _ in range(10):
        number = next_stratum(strata)
        assert number is not None
        old = strata[number]
        strata[number] = Stratum(old.judged, old.labeled + 1, old.passed + (number == 0))
    assert [stratum.labeled for stratum in strata] == [5, 5]
    assert next_stratum(strata) == 0
    assert next_stratum([Stratum(80, 40, 40), Stratum(20, 5, 2)]) == 1
    assert next_stratum([Stratum(3, 3, 3), Stratum(0, 0, 0)]) is None


def test_all_labeled_leaves_the_uncertainty_of_the_cases_alone() -> None:
    interval = corrected_rate([Stratum(60, 60, 55), Stratum(40, 40, 5)])
    assert interval is not None
    assert interval.value == pytest.approx(0.6)
    assert (interval.low, interval.high) == (pytest.approx(0.502, abs=0.002), pytest.approx(0.691, abs=0.002))


def test_nothing_is_corrected_before_each_verdict_has_a_label() -> None:
    assert corrected_rate([Stratum(60, 5, 5), Stratum(40, 0, 0)]) is None
    assert corrected_rate([Stratum(60, 5, 4), Stratum(0, 0, 0)]) is not None


def test_more_labels_narrow_the_interval_and_clusters_widen_it() -> None:
    strata = [Stratum(200, 20, 16), Stratum(100, 10, 3)]
    now, later, dependent = (half_width_after(strata, *args) for args in ((0,), (60,), (0, 30.0)))
    assert now is not None
    assert later is not None
    assert dependent is not None
    assert later < now < dependent


def test_sensitivity_and_specificity_weigh_the_strata() -> None:
    passed, failed = Stratum(900, 50, 45), Stratum(100, 50, 10)
    found, refused = sensitivity(passed, failed), specificity(passed, failed)
    assert found is not None
    assert refused is not None
    assert found.value == pytest.approx(810 / 830)
    assert refused.value == pytest.approx(80 / 170)
    assert found.low < found.value < found.high <= 1
    assert sensitivity(Stratum(5, 5, 0), Stratum(5, 5, 0)) is None
