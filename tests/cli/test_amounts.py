"""Amounts: nothing is `$0.00` but nothing, and simulated models are said to be simulated."""

from pathlib import Path

import pytest

from console.core.run import SIMULATED
from console.insight.number_format import cost_of, plain_number
from console.tui.screens.launch.fields import amount, money


def test_what_simulated_models_cost_is_said_in_comparisons_trends_and_pages(console, tmp_path: Path) -> None:
    for model in ("sim/careful", "sim/hasty"):
        console("run", "-m", model, "-s", "dialogue-starter", "-n", 4)
    first, second = (run["id"] for run in console("runs", "--json").data["runs"])
    compared = console("compare", first, second).out
    assert "$" not in compared
    assert SIMULATED in next(line for line in compared.splitlines() if line.strip().startswith("cost"))
    assert "$" not in console("trends").out
    for form in ("html", "site"):
        console("export", second, "--format", form, "-o", tmp_path / form)
        pages = [tmp_path / form] if form == "html" else [*(tmp_path / form).rglob("*.html")]
        assert not [page.name for page in pages if "$0.00" in page.read_text()]


def test_a_small_amount_is_not_nothing() -> None:
    assert cost_of(0.0001, SIMULATED) == "$0.0001"
    assert cost_of(0.0, SIMULATED) == SIMULATED
    assert cost_of(0.0, "judge simulated") == "$0.00"
    assert cost_of(0.0, SIMULATED, at_least=True) == "≥$0.00"
    assert plain_number(0.0003) == ".0003"
    assert plain_number(12.5) == "12.50"


@pytest.mark.parametrize("usd", [5.0, 0.5, 0.0005, 0.000001])
def test_a_small_cap_of_a_preset_is_the_same_in_the_form(usd: float) -> None:
    assert money(amount(usd)) == usd
