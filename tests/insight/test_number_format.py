"""Numbers as readers see them."""

from hypothesis import given
from hypothesis import strategies as st

from console.core.run import Tally
from console.core.statistics.intervals import Interval
from console.insight import number_format


def test_figures():
    assert number_format.score(Tally(passed=96, failed=21).rate) == ".821 ±.069"
    assert number_format.score(Tally().rate) == "—"
    assert number_format.score(Tally(passed=5).rate).startswith("1.000")
    assert number_format.score(Interval(0.5)) == ".500"
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
