"""Numbers as readers see them."""

from hypothesis import given
from hypothesis import strategies as st

from console.core.looks import Look
from console.core.run import Tally
from console.core.statistics.intervals import Interval
from console.insight import number_format


def test_figures():
    assert number_format.score(Tally(passed=96, failed=21).rate) == ".821 [.74 .88]"
    assert number_format.score(Tally(failed=5).rate) == ".000 [.00 .43]"
    assert number_format.score(Tally(passed=5).rate) == "1.000 [.57 1.00]"
    assert number_format.score(Tally(passed=10, failed=10).rate) == ".500 [.30 .70]"
    assert number_format.score(Tally(passed=5120, failed=4880).rate) == ".512 [.502 .522]"
    assert number_format.score(Tally(passed=200, failed=9800).rate) == ".020 [.017 .023]"
    assert number_format.score(Tally().rate) == "—"
    assert number_format.score(Tally(passed=5).rate).startswith("1.000")
    assert number_format.score(Interval(0.5)) == ".500"
    assert [number_format.number(it) for it in (87, 0.312, 12.5, 0)] == ["87", ".31", "12.5", "0"]
    assert number_format.money(None) == "—"
    assert number_format.money(0.71, at_least=True) == "≥$0.71"
    assert number_format.money(1234.5) == "$1,234.50"
    assert [number_format.money(it) for it in (0, 0.000_04, 0.0001, 0.05)] == ["$0.00", "<$0.0001", "$0.0001", "$0.050"]
    assert number_format.spent(Tally(cost_unknown=3)) == "cost unknown"
    assert number_format.spent(Tally(cost_usd=1.0, cost_unknown=3)) == "≥$1.00"
    assert [number_format.duration(it) for it in (0.42, 12, 252, 3727)] == ["0.4 s", "12 s", "4:12", "1:02:07"]
    assert [number_format.about(it) for it in (None, 3, 5, 12, 17, 18, 31, 54, 55, 180, 9000)] == [
        "",
        "<5 s",
        "~5 s",
        "~10 s",
        "~15 s",
        "~20 s",
        "~30 s",
        "~50 s",
        "~1 min",
        "~3 min",
        "~2.5 h",
    ]
    assert [number_format.count(it) for it in (812, 5000, 184_000, 1_910_000)] == ["812", "5,000", "184 k", "1.91 M"]
    assert number_format.plural(1, "case") == "1 case"
    assert number_format.plural(5000, "case") == "5,000 cases"


def test_intervals_by_themselves():
    assert number_format.bounds(None, 1.0) == ""
    assert number_format.bounds(0.0, 0.434) == "[.00 .43]"
    assert number_format.bounds(11.2, 13.8, number_format.number) == "[11.2 13.8]"
    assert number_format.with_interval(12.5, 11.2, 13.8, number_format.number) == "12.5 [11.2 13.8]"
    assert number_format.with_interval(12.5, 11.2, 15.8, number_format.number) == "12.5 [11.2 15.8]"
    change = number_format.bounds(-0.1, 0.02, lambda bound: number_format.signed(bound, number_format.rate))
    assert change == "[−.100 +.020]"


def test_a_difference_that_is_shown_as_zero_has_no_sign():
    signed = number_format.signed
    assert signed(-0.04, number_format.duration) == "0.0 s"
    assert signed(0.0, number_format.money) == "$0.00"
    assert signed(-0.0004, number_format.rate) == ".000"
    assert signed(-0.25, number_format.rate) == "−.250"
    assert signed(1.5, number_format.duration) == "+1.5 s"


def test_p_values():
    assert [number_format.p_text(p) for p in (0.0001, 0.0321, 0.31, 1)] == ["p < .001", "p = .032", "p = .31", "p = 1"]
    assert number_format.p_digits(0.0001) == "<.001"


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


def test_a_run_with_a_simulated_judge_is_not_free_where_its_model_has_no_price() -> None:
    assert number_format.spent(Tally(passed=2), "simulated") == "simulated"
    assert number_format.spent(Tally(passed=2), "judge simulated") == "$0.00", "the model is real"
    assert number_format.spent(Tally(passed=2, cost_unknown=2), "simulated") == "cost unknown"
    assert number_format.spent(Tally(passed=2, cost_usd=0.5), "simulated") == "$0.50"


def test_a_setup_among_failures_broke():
    assert number_format.failures_by({"failed": 5, "setup": 1}) == "5 failed · 1 setup broken"


def test_the_basis_of_a_look_is_named_in_three_lengths():
    look = Look(1, 4, 23, 116, 0.4783, only=("facts", "choices"))
    assert number_format.look_score(look, "") == ".478 (first 23 of 116: only facts, choices)"
    assert number_format.look_score(look, "", with_categories=False) == ".478 (first 23 of 116)"
    assert number_format.look_score(look, "", brief=True) == ".478 (first 23)"
