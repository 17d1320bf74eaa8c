"""What a run can show is said before it starts."""

import pytest

from console.core.statistics.power import detectable_difference


def test_the_smallest_difference_is_said_with_what_more_would_bring(console, tmp_path):
    run = ("run", "-m", "sim/careful", "--dry-run", "--runs", str(tmp_path / "runs"))
    text = console(*run, "-s", "bfcl-starter/multiple").out
    assert "will not be told from noise" in text
    assert "twice the cases: " in text
    assert "if 20% of cases end differently" in text
    once = console(*run, "-s", "bfcl-starter/multiple", "--json").data
    assert once["detectable"]["difference"] == pytest.approx(detectable_difference(once["cases"]))
    four = console(*run, "-s", "bfcl-starter/multiple", "-r", "4", "--json").data["detectable"]
    assert four["difference"] == pytest.approx(detectable_difference(once["cases"], 4))
    assert four["twice_the_cases"] < four["twice_the_rollouts"] < four["difference"] < once["detectable"]["difference"]
    assert not four["measured"]
    assert "detectable" not in console(*run, "-s", "aidan-starter", "--json").data
