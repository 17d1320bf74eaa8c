"""Novelty of an answer: one minus its highest cosine to any earlier answer, in double precision.

Sums are correctly rounded, so results are identical on every machine and after a resume. A zero vector gives nan, which
counts as the highest only if Python's `max` encounters it first, as in the reference.
"""

import math
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

Vector = Sequence[float]


class Nearest(NamedTuple):
    """The earlier answer that determines the novelty."""

    place: int
    """Index among the earlier answers, from 0."""
    similarity: float


class Earlier:
    """Vectors of the earlier answers; each length is computed only once."""

    def __init__(self, vectors: Sequence[Vector] = ()) -> None:
        self._known = [(vector, _length(vector)) for vector in vectors]

    def add(self, vector: Vector) -> None:
        """Add the vector of the next accepted answer."""
        self._known.append((vector, _length(vector)))

    def nearest(self, new: Vector) -> Nearest | None:
        """Return the most similar earlier answer, the first one on a tie, or None if there are none.

        Raises:
            ValueError: the vectors have different lengths.
        """
        best: Nearest | None = None
        length = _length(new)
        for index, (vector, its_length) in enumerate(self._known):
            similarity = _cosine(new, vector, length * its_length)
            if best is None or similarity > best.similarity:
                best = Nearest(index, similarity)
        return best


def novelty(new: Vector, previous: Sequence[Vector]) -> float:
    """Return 1.0 minus the highest cosine; 1.0 for the first answer. May exceed 1; nan for zero vectors.

    Raises:
        ValueError: the vectors have different lengths.
    """
    nearest = Earlier(previous).nearest(new)
    return 1.0 if nearest is None else 1.0 - nearest.similarity


def _cosine(first: Vector, second: Vector, lengths: float) -> float:
    if len(first) != len(second):
        raise ValueError(f"vectors of {len(first)} and {len(second)} numbers cannot be compared")
    dot = _sum_of_products(first, second)
    if lengths == 0.0:
        return math.nan if dot == 0.0 else math.copysign(math.inf, dot)
    return dot / lengths


def _length(vector: Vector) -> float:
    return math.sqrt(_sum_of_products(vector, vector))


def _sum_of_products(first: Vector, second: Vector) -> float:
    try:
        return math.fsum(map(mul, first, second))
    except (OverflowError, ValueError):
        return float(sum(map(mul, first, second)))
