"""What rate limits cost in virtual time: throughput of the best possible, and refused calls.

The same and more as a table: perf/bench_pacing.py.
"""

from statistics import mean

import pytest
from support.rate_limits import Capped, Moody, PerMinute, play

ENTRIES, AT_ONCE = 400, 16
SEEDS = range(3)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("processes", [0, pytest.param(4, marks=pytest.mark.slow)])
def test_refusals_at_any_load_cost_at_most_a_fifth_of_the_throughput(share: float, processes: int) -> None:
    best_s = Moody(share=share).best_s(ENTRIES, AT_ONCE)
    took = [play(Moody(share=share), entries=ENTRIES, processes=processes, seed=seed).took_s for seed in SEEDS]
    assert mean(best_s / took_s for took_s in took) >= 0.8
    assert max(took) <= 2 * best_s


@pytest.mark.parametrize(("cap", "most"), [(1, 151), (2, 97), (4, 64), (8, 34), (12, 21), (15, 13)])
def test_a_cap_on_calls_at_once_is_met_with_few_refusals(cap: int, most: int) -> None:
    """At most 1.5 times as many as with plain additive increase and halving."""
    best_s = Capped(cap=cap).best_s(ENTRIES, AT_ONCE)
    played = [play(Capped(cap=cap), entries=ENTRIES, seed=seed) for seed in SEEDS]
    assert mean(one.refused for one in played) <= most
    assert mean(best_s / one.took_s for one in played) >= 0.7


def test_a_cap_that_changes_is_followed_both_ways() -> None:
    played = [play(Capped(cap=12, other=4), entries=ENTRIES, seed=seed) for seed in SEEDS]
    assert mean(one.refused for one in played) <= 33
    assert mean(Capped(cap=12, other=4).best_s(ENTRIES, AT_ONCE) / one.took_s for one in played) >= 0.65


def test_a_cap_per_minute_refuses_hardly_more_than_one_call_a_minute() -> None:
    played = play(PerMinute(count=60), entries=ENTRIES)
    assert played.refused <= 12
    assert played.took_s <= 1.05 * PerMinute(count=60).best_s(ENTRIES, AT_ONCE)
