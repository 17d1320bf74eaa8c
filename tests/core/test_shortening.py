"""Shortened cells fit, and rows that differed still differ."""

import pytest

from console.core.shortening import shorten_label


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 5, "short"),
        ("matrix_cumulative_codeact", 16, "matrix_cum…deact"),
        ("all turns of it succeeded", 12, "all turns o…"),
        ("  matrix_cumulative_codeact: missing calls", 30, "  matrix_c…eact: missing calls"),
        ("  matrix_cumulative_codeact: missing calls", 18, "  matrix_cumulati…"),
        ("why: it is long", 8, "why: it…"),
        ("2026-11-26T0509-rep-hasty-87b1ad", 31, "0509-rep-hasty-87b1ad"),
        ("2026-11-26T0509-rep-hasty-87b1ad", 18, "0509-rep-has…7b1ad"),
    ],
)
def test_names_are_cut_in_the_middle_and_prose_at_its_end(text: str, width: int, shown: str) -> None:
    assert shorten_label(text, width) == shown
    assert len(shown) <= width


def test_measures_of_long_names_stay_different() -> None:
    name = "matrix_cumulative_function_calling"
    measures = ["success rate", "missing calls", "missing calls (true)", "conversations passed"]
    assert len({shorten_label(f"  {name}{end}: {measure}", 36) for measure in measures for end in ("", "_2")}) == 8
