"""The replies that are left are predicted from recordings that have reached the point."""

import random

import pytest

from console.core.statistics.lengths import Length, replies_left

TRIALS = 60


def scripted(rng: random.Random, case: int) -> tuple[int, ...]:
    """A case with turns of its own, in which the model needs a call or two more or less."""
    own = random.Random(case)
    return tuple(own.choice((1, 2, 4)) + (rng.random() < 0.3) for _ in range(own.randint(2, 5)))


def endless(rng: random.Random, _: int) -> tuple[int, ...]:
    """A loop that ends after each turn with the same chance."""
    turns = 1
    while rng.random() < 0.85:
        turns += 1
    return (1,) * turns


def retried(rng: random.Random, case: int) -> tuple[int, ...]:
    """A single turn of as many replies as a program needs to run."""
    return (1 + sum(rng.random() < 0.7 for _ in range(12 + case % 5)),)


def sized(steps: tuple[int, ...], play: object, case: int) -> Length:
    return Length(str(case), steps, 3.0 * random.Random(case).randint(2, 5) if play is scripted else 27.0)


@pytest.mark.parametrize("play", [scripted, endless, retried])
@pytest.mark.parametrize("point", ["any", "last"])
@pytest.mark.parametrize("repeats", [1, 3])
def test_what_is_predicted_is_near_and_its_interval_covers_what_follows(play, point: str, repeats: int) -> None:
    rng = random.Random(f"{play.__name__} {point} {repeats}")
    total, predicted, covered, near = 0, 0.0, 0, 0
    for trial in range(TRIALS):
        cases = [trial * 40 + number for number in range(12)]
        lengths = [sized(play(rng, case), play, case) for case in cases for _ in range(repeats)]
        own, same, others = lengths[0], lengths[1:repeats], lengths[repeats:]
        places = [(turn, step) for turn, steps in enumerate(own.steps) for step in range(steps)]
        turn, step = places[-1] if point == "last" else rng.choice(places)
        left = replies_left(own, same, others, turn, step)
        times, taken = rng.choice((1, 4, 8)), 0
        low, high = left.span(times)
        for _ in range(times):
            while len(steps := play(rng, cases[0])) <= turn or steps[turn] <= step:
                pass
            taken += sum(steps[turn:]) - step
        total, predicted = total + taken, predicted + left.mean * times
        covered += int(low * times) <= taken <= high * times + 1
        near += 1 / 1.5 <= left.mean * times / taken <= 1.5
    is_hard = play is endless and point == "last" and repeats == 1  # its length alone says little, and is the shortest
    factor, share = (2.0, 0.75) if is_hard else (1.5, 0.9)
    assert 1 / factor <= predicted / total <= factor
    assert covered >= share * TRIALS
    assert near >= {scripted: 0.8, endless: 0.25, retried: 0.6}[play] * TRIALS
