"""What a selection can show, by how earlier runs of its suite differed."""

import pytest
from support.graded_runs import graded_run

from console.core.statistics.power import DISCORDANCE, Detectable, detectable_difference
from console.engine.earlier_runs import detectable

CASES = 40


def _once(flipped):
    return {f"c{n}": "f" if (n % 2 == 0) != (n < flipped) else "p" for n in range(CASES)}


def test_without_earlier_runs_a_fifth_is_taken_to_differ(tmp_path):
    graded_run(tmp_path, "2027-01-01-other", _once(0), suite="other")
    graded_run(tmp_path, "2027-01-02-alone", _once(0))
    assert detectable(tmp_path, "recorded", 200, 1) == Detectable(200, 1, DISCORDANCE, is_measured=False)


def test_two_runs_tell_how_many_cases_end_differently(tmp_path):
    graded_run(tmp_path, "2027-01-01-a", _once(0))
    graded_run(tmp_path, "2027-01-02-b", _once(4))
    graded_run(tmp_path, "2027-01-03-unfinished", _once(20), close=False)
    plan = detectable(tmp_path, "recorded", 200, 1)
    assert (plan.discordance, plan.is_measured) == (pytest.approx(0.1), True)
    assert plan.difference() == pytest.approx(detectable_difference(200, 1, 0.1))


def test_repeats_tell_how_much_of_it_is_sampling(tmp_path):
    repeated = {f"c{n}": ("pf", "fp", "pp", "ff")[n % 4] for n in range(CASES)}
    graded_run(tmp_path, "2027-01-01-a", repeated)
    alone = detectable(tmp_path, "recorded", 200, 2)
    assert (alone.discordance, alone.within_share) == (pytest.approx(0.5), 1.0)
    graded_run(tmp_path, "2027-01-02-b", {f"c{n}": "pp" for n in range(CASES)})
    both = detectable(tmp_path, "recorded", 200, 2)
    assert both.discordance == pytest.approx(0.5)
    assert both.is_measured
    assert both.within_share < 1.0 or both.difference(rollouts=2) < both.difference()
