"""Simulated embeddings: texts that share words get similar unit vectors of 384 numbers."""

import hashlib
import math
import re
from functools import lru_cache

DIMENSIONS = 384
_DIMENSIONS_A_WORD = 6
_WORD = re.compile(r"\w+")
_EMPTY_WORDS = re.compile(
    r"a|an|and|are|as|at|be|by|for|from|in|is|it|of|on|or|that|the|this|to|was|we|were|will|with|you"
)


def vector_of(text: str) -> list[float]:
    """Return the vector of a text; the same in every process."""
    vector = [0.0] * DIMENSIONS
    words = [word for word in _WORD.findall(text.lower()) if not _EMPTY_WORDS.fullmatch(word)]
    for word in words or [text]:
        for dimension, sign in _dimensions_of(word):
            vector[dimension] += sign
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0] + [0.0] * (DIMENSIONS - 1)


@lru_cache(maxsize=8192)
def _dimensions_of(word: str) -> tuple[tuple[int, float], ...]:
    stem = word[:-1] if len(word) > 4 and word.endswith("s") else word
    digest = hashlib.blake2b(stem.encode("utf-8", "replace"), digest_size=2 * _DIMENSIONS_A_WORD).digest()
    numbers = (int.from_bytes(digest[at : at + 2], "big") for at in range(0, len(digest), 2))
    return tuple(((number >> 1) % DIMENSIONS, 1.0 if number & 1 else -1.0) for number in numbers)
