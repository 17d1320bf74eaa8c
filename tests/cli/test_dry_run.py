"""What a run can show is said before it starts."""

import pytest

from console.core.statistics.power import detectable_difference


def test_the_smallest_difference_is_said_with_what_more_would_bring(console, tmp_path):
    run = ("run", "-m", "sim/careful", "--dry-run", "--runs", str(tmp_path / "runs"))
    text = console(*run, "-s", "bfcl-starter/multiple").out
    assert "cannot be distinguished from noise" in text
    assert "twice the cases: " in text
    assert "if 20% of cases end differently" in text
    once = console(*run, "-s", "bfcl-starter/multiple", "--json").data
    assert once["detectable"]["difference"] == pytest.approx(detectable_difference(once["cases"]))
    four = console(*run, "-s", "bfcl-starter/multiple", "-r", "4", "--json").data["detectable"]
    assert four["difference"] == pytest.approx(detectable_difference(once["cases"], 4))
    assert four["twice_the_cases"] < four["twice_the_rollouts"] < four["difference"] < once["detectable"]["difference"]
    assert not four["measured"]
    assert "detectable" not in console(*run, "-s", "aidan-starter", "--json").data


@pytest.mark.parametrize(
    ("suite", "basis"),
    [
        ("bfcl-starter", "from the texts of the cases, at 60 tokens a reply"),
        ("aidan-starter", "from recorded loops, 17 rounds on average, 70 tokens an answer"),
        ("cave-starter", "from the averages of the published runs, 2,500 tokens a reply"),
        ("dialogue-starter", "from the texts of the cases, at 120 tokens a reply"),
    ],
)
def test_every_estimate_says_what_it_rests_on(console, tmp_path, suite, basis):
    run = ("run", "-m", "sim/careful", "-s", suite, "--dry-run", "--runs", str(tmp_path / "runs"))
    assert f"  estimated {basis}" in console(*run).out
    assert console(*run, "--json").data["basis"].startswith(basis)


def test_a_cap_in_dollars_says_what_it_cannot_count(console, home):
    (home / "models.toml").write_text('[mine]\nmodel_id = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    run = ("run", "-m", "mine", "-s", "bfcl-starter/multiple", "--dry-run")
    assert "price of mine unknown; --max-cost counts only" in console(*run, "--max-cost", "1").out
    assert "--max-cost" not in console(*run).out


def test_runs_without_a_price_cost_nothing_known_together(console, home):
    unpriced = '[mine]\nmodel_id = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
    (home / "models.toml").write_text(unpriced + unpriced.replace("mine", "priced") + "price = { in = 1, out = 1 }\n")
    run = ("run", "-s", "bfcl-starter/multiple", "--dry-run", "-m", "mine")
    assert console(*run, "-m", "sim/careful").out.splitlines()[-1].endswith(" calls, price of mine unknown")
    total = console(*run, "-m", "priced").out.splitlines()[-1]
    assert ", at least $0.0" in total
    assert total.endswith(", price of mine unknown")
