"""The step that decided a conversation is found from few points, at a price that one number tells."""

import itertools
import math
import random

import pytest
from support.quick_rows import first_quick

from console.insight.deciding import Chance, Curve, fall_of, next_point, searches_left


def searched(replies: int, planted: int, before: float, after: float, times: int, rng: random.Random) -> Curve:
    """Go on from the points that are asked for; the chance falls after the planted reply."""
    curve: dict[int, Chance] = {}
    while (point := next_point(curve, replies)) is not None:
        assert point not in curve, "no point is played twice"
        chance = before if point <= planted else after
        curve[point] = Chance(sum(rng.random() < chance for _ in range(times)), times)
    return curve


@pytest.mark.parametrize("replies", first_quick([7, 2, 20, 3, 70, 200], 3))
def test_a_planted_step_is_found_in_95_of_100_conversations(replies: int) -> None:
    rng = random.Random(replies)
    found = 0
    for _ in range(400):
        planted = rng.randrange(replies)
        curve = searched(replies, planted, 0.9, 0.02, 8, rng)
        fall = fall_of(curve, replies)
        found += fall is not None and fall.replies == planted
        assert len(curve) <= 2 * replies.bit_length(), "few points"
    assert found >= 0.95 * 400


@pytest.mark.parametrize("replies", [1, 2, 7, 19])
def test_the_searches_that_may_follow_are_told_before_and_while_it_goes_on(replies: int) -> None:
    for planted in range(replies):
        curve = searched(replies, planted, 1.0, 0.0, 8, random.Random(1))
        points = list(curve)
        for played in range(len(points) + 1):
            left = searches_left({point: curve[point] for point in points[:played]}, replies)
            assert points[played:] in left


@pytest.mark.slow
def test_one_number_is_within_a_factor_of_1_5_of_each_search_at_all_lengths() -> None:
    """In calls, and in tokens of requests that hold all earlier messages, beside a system prompt of any length."""
    for replies in range(1, 201):
        searches = searches_left({}, replies)
        assert sum(map(len, searches)) / replies <= 1.2 * (1 + math.log2(replies)), "few more points than by halving"
        for prompt in (None, 0, 5, 50):
            prices = [1 if prompt is None else prompt + 1 + number for number in range(replies)]
            after = [*itertools.accumulate(reversed(prices))][::-1]
            takes = [sum(after[point] for point in search) for search in searches]
            assert max(takes) <= 1.3**2 * min(takes), (replies, prompt)


def test_a_longer_conversation_is_halved() -> None:
    curve = searched(1000, 777, 1.0, 0.0, 8, random.Random(1))
    assert list(curve)[:2] == [0, 500]
    assert len(curve) <= 1 + (1000).bit_length()


def test_points_that_another_order_has_played_are_used() -> None:
    """As those of searches by an earlier version."""
    played = {point: Chance(8 if point <= 12 else 0, 8) for point in (0, 10, 11, 12, 13, 15)}
    assert next_point(played, 20) is None
    fall = fall_of(played, 20)
    assert fall is not None
    assert fall.replies == 12


def test_a_conversation_that_never_comes_right_was_decided_by_no_step() -> None:
    curve = searched(5, 2, 0.0, 0.0, 8, random.Random(1))
    assert list(curve) == [0]
    assert fall_of(curve, 5) is None
