"""The replies that follow a point of a conversation, predicted from recorded conversations.

A conversation has turns, and each turn as many replies as the model needs. Only recordings that reached a turn and step
are evidence for the rest. Each recording of the same case has weight one. Those of other cases together have weight one
half for the replies of a turn, and one for the number of turns, unless repeated cases show the variance within and
between cases, which then determines their weight.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.core.statistics.distributions import Z95

_OTHERS = 0.5
_UNREPEATED = 1.0
_LEAST_WEIGHT, _MOST_WEIGHT = 0.1, 10.0
_UNSEEN = 0.25
"""Variance assumed if none was observed, divided by the number of recordings: that of a number 0 or 1 larger."""

Weights = Mapping[float, float]
"""Weight of each observed number."""


@dataclass(frozen=True, slots=True)
class Length:
    """Length of a recorded conversation."""

    case: str
    steps: tuple[int, ...]
    """Replies of each turn."""
    size: float = 1.0
    """Expected calls of its case, for comparing turns of different cases."""


@dataclass(frozen=True, slots=True)
class RepliesLeft:
    """Expected number of replies starting at a point, including the reply at that point."""

    numbers: Weights
    """Probability of each number."""
    variance: float
    """Variance of a single continuation."""
    weight: float
    """Number of recordings of the case that have reached the point."""

    @property
    def mean(self) -> float:
        return _moments(self.numbers)[0]

    def span(self, times: int) -> tuple[float, float]:
        """Return the 95 % prediction interval of the mean of this many continuations."""
        margin = Z95 * math.sqrt(self.variance * (1 / times + 1 / self.weight))
        return max(self.mean - margin, 1.0), self.mean + margin


def replies_left(
    own: Length, same: Sequence[Length], others: Sequence[Length], turn: int, step: int, *, is_turn_over: bool = False
) -> RepliesLeft:
    """Predict the replies of a conversation that follow a point.

    Args:
        own: the recorded conversation that contains the point.
        same: other recordings of its case.
        others: recordings of other cases.
        turn: index of the turn.
        step: index of the reply within the turn.
        is_turn_over: True if the reply is the last one of its turn.
    """
    alike, turns = [own, *same], [steps for length in others for steps in length.steps]
    lasting = [length.steps[turn] - step for length in alike if len(length.steps) > turn and length.steps[turn] > step]
    here = _mixed(lasting, [steps - step for steps in turns if steps > step], _OTHERS)
    scaled = [len(length.steps) * own.size / length.size for length in others]
    further = _mixed(
        [len(length.steps) - turn - 1 for length in alike if len(length.steps) > turn],
        [max(count - turn - 1, 0.0) for count in scaled if count > turn + 0.5],
        _weight_of_others([*alike, *others]),
    )
    moments, usual = [(0.0, 0.0)], _mixed([], turns, _OTHERS)
    for place in range(turn + 1, turn + 2 + math.ceil(max(further))):
        mean, variance = _moments(_later(alike, usual, place))
        moments.append((moments[-1][0] + mean, moments[-1][1] + variance))
    numbers, spread = defaultdict[float, float](float), 0.0
    for count, chance in further.items():
        part, (low, high) = count % 1, moments[int(count) : int(count) + 2]
        spread += chance * (low[1] + part * (high[1] - low[1]))
        for steps, weight in {1: 1.0}.items() if is_turn_over else here.items():
            numbers[steps + low[0] + part * (high[0] - low[0])] += chance * weight
    variance = _moments(numbers)[1] + spread + _UNSEEN / (len(alike) + len(others))
    return RepliesLeft(numbers, variance, max(len(lasting), 1))


def _later(alike: Sequence[Length], usual: Weights, turn: int) -> Weights:
    """Return the replies of a later turn; if no recording of the case has it, those of all of its turns."""
    own = [length.steps[turn] for length in alike if len(length.steps) > turn]
    own = own or [steps for length in alike for steps in length.steps]
    share = _OTHERS / (len(own) + _OTHERS) if usual else 0.0
    weights = defaultdict[float, float](float, {number: weight * share for number, weight in usual.items()})
    for number in own:
        weights[number] += (1 - share) / len(own)
    return weights


def _mixed(own: Sequence[float], others: Sequence[float], weight: float) -> Weights:
    """Return the probability of each number, giving the numbers from other cases this total weight."""
    weights = defaultdict[float, float](float)
    total = len(own) + (weight if others else 0.0)
    for number in own:
        weights[number] += 1 / total
    for number in others:
        weights[number] += weight / len(others) / total
    return weights


def _moments(weights: Weights) -> tuple[float, float]:
    """Return the mean and the variance."""
    mean = sum(number * weight for number, weight in weights.items())
    return mean, sum((number - mean) ** 2 * weight for number, weight in weights.items())


def _weight_of_others(lengths: Sequence[Length]) -> float:
    """Return the weight of other cases, in recordings of one case: the variance within cases over that between.

    If fewer than two cases were repeated, the weight is one.
    """
    by_case = defaultdict[str, list[float]](list)
    for length in lengths:
        by_case[length.case].append(len(length.steps) / length.size)
    repeated = [turns for turns in by_case.values() if len(turns) > 1]
    if len(repeated) < 2:
        return _UNREPEATED
    means = [sum(turns) / len(turns) for turns in repeated]
    center = sum(means) / len(means)
    within = sum((count - mean) ** 2 for turns, mean in zip(repeated, means, strict=True) for count in turns)
    within /= sum(len(turns) - 1 for turns in repeated)
    between = sum((mean - center) ** 2 for mean in means) / (len(means) - 1)
    return min(max(within / between if between else _MOST_WEIGHT, _LEAST_WEIGHT), _MOST_WEIGHT)
