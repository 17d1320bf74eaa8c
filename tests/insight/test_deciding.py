"""The step that decided a conversation is found by halving, from few continuations."""

import random

import pytest

from console.insight.deciding import Chance, Curve, fall_of, next_point, searches_left


def searched(replies: int, planted: int, before: float, after: float, times: int, rng: random.Random) -> Curve:
    """Go on from the points that are asked for; the chance falls after the planted reply."""
    curve: dict[int, Chance] = {}
    while (point := next_point(curve, replies)) is not None:
        assert point not in curve, "no point is played twice"
        chance = before if point <= planted else after
        curve[point] = Chance(sum(rng.random() < chance for _ in range(times)), times)
    return curve


@pytest.mark.parametrize("replies", [2, 3, 7, 20])
def test_a_planted_step_is_found_in_95_of_100_conversations(replies: int) -> None:
    rng = random.Random(replies)
    found = 0
    for _ in range(400):
        planted = rng.randrange(replies)
        curve = searched(replies, planted, 0.9, 0.02, 8, rng)
        fall = fall_of(curve, replies)
        found += fall is not None and fall.replies == planted
        assert len(curve) <= 1 + replies.bit_length(), "by halving"
    assert found >= 0.95 * 400


@pytest.mark.parametrize("replies", [1, 2, 7, 19])
def test_the_searches_that_may_follow_are_told_before_and_while_it_goes_on(replies: int) -> None:
    for planted in range(replies):
        curve = searched(replies, planted, 1.0, 0.0, 8, random.Random(1))
        points = list(curve)
        for played in range(len(points) + 1):
            left = searches_left({point: curve[point] for point in points[:played]}, replies)
            assert points[played:] in left
    takes = [sum(replies - point for point in search) for search in searches_left({}, replies)]
    assert max(takes) <= 1.5**2 * min(takes), "one number is within 1.5 of each"


def test_a_conversation_that_never_comes_right_was_decided_by_no_step() -> None:
    curve = searched(5, 2, 0.0, 0.0, 8, random.Random(1))
    assert list(curve) == [0]
    assert fall_of(curve, 5) is None
