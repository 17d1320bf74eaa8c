"""Embeddings for the test server: equal words give equal parts of a vector."""

import math
import zlib


def vector(text: str, size: int = 16) -> list[float]:
    numbers = [0.0] * size
    for word in text.lower().split() or [""]:
        numbers[zlib.crc32(word.encode("utf-8", "replace")) % size] += 1.0
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]
