"""Calibration: agreement of stated probabilities with observed frequencies. Pure."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

BINS = 10


class Guess(NamedTuple):
    """One answer with its author's stated probability."""

    confidence: float
    is_right: bool
    case: str = ""
    cluster: str = ""


class Bin(NamedTuple):
    """Answers with similar confidence."""

    guesses: tuple[Guess, ...]

    @property
    def confidence(self) -> float:
        return math.fsum(guess.confidence for guess in self.guesses) / len(self.guesses)

    @property
    def accuracy(self) -> float:
        """Share that is right."""
        return sum(guess.is_right for guess in self.guesses) / len(self.guesses)


def equal_mass_bins(guesses: Sequence[Guess], bins: int = BINS) -> list[Bin]:
    """Return the guesses in bins of equal size by confidence; fewer bins if there are fewer guesses."""
    ordered = sorted(guesses, key=lambda guess: guess.confidence)
    count = min(bins, len(ordered))
    edges = [len(ordered) * number // count for number in range(count + 1)] if count else []
    return [Bin(tuple(ordered[start:end])) for start, end in itertools.pairwise(edges)]


def expected_calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the mean distance between accuracy and confidence over bins, weighted by size; None if no guesses."""
    total = sum(len(each.guesses) for each in bins)
    if not total:
        return None
    return math.fsum(len(each.guesses) * abs(each.accuracy - each.confidence) for each in bins) / total


def brier_score(probabilities: dict[str, float], right: str) -> float:
    """Return the squared distance of the probabilities of all choices from the truth, from 0 to 2."""
    names = probabilities.keys() | {right}
    return math.fsum((probabilities.get(name, 0.0) - (name == right)) ** 2 for name in names)
