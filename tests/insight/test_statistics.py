"""Intervals and tests against published and exactly computed values."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.core.run import Tally
from console.insight import number_format
from console.insight.statistics import bootstrap_mean, mcnemar, paired_difference
from console.suites.rates import quantile, wilson


def test_wilson_of_newcombe_1998():
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert tuple(round(it, 4) for it in wilson(15, 148)) == (0.0624, 0.1605)
    assert tuple(round(it, 4) for it in wilson(0, 20)) == (0.0, 0.1611)
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 5000), st.data())
def test_wilson_holds_the_rate_and_stays_a_rate(graded, data):
    passed = data.draw(st.integers(0, graded))
    low, high = wilson(passed, graded)
    assert 0 <= low <= passed / graded <= high <= 1


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_the_exact_binomial_test(lost, gained):
    count = lost + gained
    tail = sum(comb(count, k) for k in range(min(lost, gained) + 1)) / 2**count
    assert mcnemar(lost, gained) == pytest.approx(min(1.0, 2 * tail))
    assert mcnemar(lost, gained) == mcnemar(gained, lost)


def test_mcnemar_of_large_counts():
    assert mcnemar(14, 7) == pytest.approx(0.18925, abs=1e-5)
    assert 0 <= mcnemar(5000, 4000) < 1e-20


def test_paired_difference_of_newcombe_1998():
    difference, low, high = paired_difference(36, 12, 2, 0)
    assert difference == pytest.approx(-0.2)
    assert -0.4 < low < -0.2 < high < 0
    assert paired_difference(0, 0, 0, 0) == (0.0, -1.0, 1.0)


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_paired_difference_mirrors(both, lost, gained, neither):
    difference, low, high = paired_difference(both, lost, gained, neither)
    other, other_low, other_high = paired_difference(both, gained, lost, neither)
    assert low <= difference <= high
    assert (other, other_low, other_high) == (pytest.approx(-difference), pytest.approx(-high), pytest.approx(-low))


def test_bootstrap_is_repeatable_and_holds_the_mean():
    values = [1.0, 2.0, 3.0, 4.0, 10.0]
    low, high = bootstrap_mean(values)
    assert low < 4 < high
    assert bootstrap_mean(values) == (low, high)
    assert bootstrap_mean([2.0] * 5) == (2.0, 2.0)
    with pytest.raises(ValueError, match="at least one"):
        bootstrap_mean([])


def test_quantiles():
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
    assert quantile([5], 0.95) == 5
    with pytest.raises(ValueError, match="at least one"):
        quantile([], 0.5)


def test_figures():
    assert number_format.score(96, 117) == ".821 ±.069"
    assert number_format.score(0, 0) == "—"
    assert number_format.score(5, 5).startswith("1.000")
    assert [number_format.number(it) for it in (87, 0.312, 12.5, 0)] == ["87", ".31", "12.5", "0"]
    assert number_format.money(None) == "—"
    assert number_format.money(0.71, at_least=True) == "≥$0.71"
    assert number_format.money(1234.5) == "$1 234.50"
    assert number_format.spent(Tally(cost_unknown=3)) == "cost unknown"
    assert number_format.spent(Tally(cost_usd=1.0, cost_unknown=3)) == "≥$1.00"
    assert [number_format.duration(it) for it in (0.42, 12, 252, 3727)] == ["0.4 s", "12 s", "4:12", "1:02:07"]
    assert [number_format.about(it) for it in (None, 3, 31, 180, 9000)] == [
        "",
        "a few seconds",
        "about 30 s",
        "about 3 min",
        "about 2.5 h",
    ]
    assert [number_format.count(it) for it in (812, 5000, 184_000, 1_910_000)] == ["812", "5 000", "184 k", "1.91 M"]
    assert number_format.plural(1, "case") == "1 case"
    assert number_format.plural(5000, "case") == "5 000 cases"


def test_bars():
    assert number_format.sparkline([1.0, 0.5, None, 0.0], 9) == "█▅ ▁"
    assert number_format.sparkline([], 5) == ""
    assert number_format.sparkline([1.0, 2.0, 3.0], 2) == "▆█"
    assert number_format.bar(0.5, 10) == "█████"
    assert number_format.bar(0.001, 10) == "▏"
    assert number_format.bar(0, 10) == ""


@given(st.lists(st.none() | st.floats(0, 1e6), max_size=40), st.integers(0, 20))
def test_sparkline_never_exceeds_its_width(values, width):
    assert len(number_format.sparkline(values, width)) <= width


@given(st.floats(-1, 2, allow_nan=False), st.integers(0, 40))
def test_bar_never_exceeds_its_width(share, width):
    assert len(number_format.bar(share, width)) <= max(width, 1)
