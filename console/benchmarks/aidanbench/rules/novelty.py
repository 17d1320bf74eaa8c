"""How new an answer is: one minus its greatest cosine to any earlier answer, in double precision. Pure.

Sums are correctly rounded, so that the same vectors give the same number on every machine and in every resumed run.
A vector without direction gives nan, which counts as the greatest only where Python's `max` meets it first; this is
how the reference behaves.
"""

import math
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

Vector = Sequence[float]


class Nearest(NamedTuple):
    """The earlier answer that decides the novelty."""

    place: int
    """Position among the earlier answers, from 0."""
    similarity: float


class Earlier:
    """The vectors of the earlier answers. The length of each is computed once: vectors are long and compared often."""

    def __init__(self, vectors: Sequence[Vector] = ()) -> None:
        self._known = [(vector, _length(vector)) for vector in vectors]

    def add(self, vector: Vector) -> None:
        """Add the vector of the next accepted answer."""
        self._known.append((vector, _length(vector)))

    def nearest(self, new: Vector) -> Nearest | None:
        """Return the earlier answer of greatest similarity, the first of equals; None without earlier answers.

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
    """Return 1.0 minus the greatest cosine; 1.0 for the first answer. May exceed 1; nan for one without direction.

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
