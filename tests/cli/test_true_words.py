"""What the commands say is true: bounds of an estimate, who was simulated, and what a filter leaves."""

import re

import pytest

from console.core.run import Manifest, ModelFacts
from console.exchange.exports.html_parts import simulated_notice

PRICED = '[paid]\nmodel_id = "m"\nbase_url = "http://127.0.0.1:9/v1"\nprice = {in = 30.0, out = 60.0}\n'


@pytest.fixture
def paid(home):
    (home / "models.toml").write_text(PRICED)
    return "run", "-m", "paid", "--judge", "paid", "--embedding", "sim/embedding", "-s", "aidan-starter"


def test_an_estimate_of_loops_has_an_upper_bound(console, paid):
    text = console(*paid, "-n", 2, "--dry-run").out
    assert re.search(r"about \$\d+\.\d\d, at most \$\d+\.\d\d: every loop to round 20", text)
    forecast = console(*paid, "-n", 2, "--dry-run", "--json").data
    assert 1.2 < forecast["most_usd"] / forecast["cost_usd"] < 2.0
    assert "most_usd" not in console(*paid, "-n", 2, "--dry-run", "--json", "-o", "max_turns=0").data


def test_nothing_dear_is_played_unasked_and_without_a_cap(console, paid):
    refused = console(*paid)
    assert refused.code == 2
    assert "every loop to round 20), and no limit stops it. No calls were made" in refused.err
    assert not console("runs", "--json").data["runs"]


def test_a_filter_without_matches_says_of_how_many(console):
    run = console("run", "-m", "sim/hasty", "-s", "bfcl-starter/simple_python", "--json", "--quiet").data["run"]
    ended = console("failures", run, "--filter", "reason:nothing_like_it")
    assert re.search(r"none of \d+ failures matches reason:nothing_like_it", ended.err)
    assert "has no labels; grouped by reason" in console("failures", run, "--by", "label").err
    called = console("failures", run, "--filter", "func:harbour.tide_height is:passed,failed", "--json").data["groups"]
    assert [case for group in called for case in group["cases"]] == ["simple_python_0"]


def test_a_real_model_is_not_called_simulated_because_its_judge_was():
    judge = ModelFacts("sim/judge", simulated=True)
    run = Manifest("r", 1.0, "s", ModelFacts("real"), None, roles={"judge": judge})  # type: ignore[arg-type]
    assert run.simulated
    assert run.simulated_note == "judge simulated"
    assert "answers" not in simulated_notice(run.simulated_note)
    assert "answers" in simulated_notice("simulated")
