"""The step that decided a conversation is found by halving."""

import random

import pytest

from console.insight.deciding import Chance, fall_of, next_point


def searched(replies: int, decisive: int, good: float, rng: random.Random, most: int = 8) -> tuple[int | None, int]:
    """Search with made-up continuations; return the step found, and how many points were played."""
    curve: dict[int, Chance] = {}
    while (point := next_point(curve, replies)) is not None:
        assert point not in curve
        chance = good if point <= decisive else 0.0
        curve[point] = Chance(sum(rng.random() < chance for _ in range(most)), most)
    fall = fall_of(curve, replies)
    return fall.replies if fall is not None else None, len(curve)


@pytest.mark.parametrize("replies", [1, 2, 5, 12, 40])
def test_a_planted_step_is_found_with_few_continuations(replies: int) -> None:
    rng = random.Random(replies)
    found = [(step, *searched(replies, step, 0.9, rng)) for step in (rng.randrange(replies) for _ in range(200))]
    assert sum(step == it for step, it, _ in found) >= 190
    assert max(played for *_, played in found) <= 1 + replies.bit_length()


def test_a_conversation_that_never_comes_right_was_decided_by_no_step() -> None:
    assert searched(20, 5, 0.0, random.Random(1)) == (None, 1)
    assert fall_of({}, 3) is None
