"""Vectors from an OpenAI-style `/embeddings` answer, in the order of the texts."""

import base64
import math
import struct
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind

BATCH = 256
"""Texts in one request."""


def embedding_body(model: ModelConfig, texts: list[str]) -> dict[str, Any]:
    """Return the request body. Base64 is asked for, as OpenAI's own client does: the float32 values arrive exact."""
    return {"model": model.model_id, "input": texts, "encoding_format": "base64", **model.params}


class VectorReader:
    """Reads the vectors of one model, which are all of one length, whatever request they answer."""

    def __init__(self) -> None:
        self._length: int | None = None

    def read(self, value: object, count: int) -> list[list[float]]:
        """Return the vectors of an answer to `count` texts.

        Raises:
            Fault: `bad_answer`, when a vector is missing or doubled, no list of numbers, or of another length than the
                rest and those before.
        """
        data = cast(dict[str, Any], value).get("data") if isinstance(value, dict) else None
        rows = cast(list[Any], data) if isinstance(data, list) else []
        by_index: dict[int, list[float]] = {}
        for number, row in enumerate(rows):
            fields = cast(dict[str, Any], row) if isinstance(row, dict) else {}
            index = fields.get("index")
            place = number if index is None else index
            by_index[place if type(place) is int else -1] = _vector(fields.get("embedding"))
        if len(rows) != count or sorted(by_index) != list(range(count)):
            raise Fault(FaultKind.BAD_ANSWER, f"{len(rows)} vectors came for {count} texts")
        lengths = {len(vector) for vector in by_index.values()} | ({self._length} if self._length else set[int]())
        if len(lengths) != 1:
            raise Fault(
                FaultKind.BAD_ANSWER, f"the vectors are of unequal length: {', '.join(map(str, sorted(lengths)))}"
            )
        [self._length] = lengths
        return [by_index[number] for number in range(count)]


def tokens_of(value: object) -> int | None:
    """Return how many tokens an answer says it counted; None when it does not say, or absurdly."""
    usage = cast(dict[str, Any], value).get("usage") if isinstance(value, dict) else None
    count = cast(dict[str, Any], usage).get("prompt_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 1 << 40 else None


def _vector(value: object) -> list[float]:
    """Return one vector.

    Raises:
        Fault: `bad_answer`, for everything but finite numbers: no text, truth value or list counts as one.
    """
    vector: list[float] = []
    try:
        if isinstance(value, str):
            raw = base64.b64decode(value, validate=True)
            vector = list(struct.unpack(f"<{len(raw) // 4}f", raw))
        elif isinstance(value, list) and set(map(type, cast(list[Any], value))) <= {int, float}:
            vector = [float(number) for number in cast(list[Any], value)]
    except (ValueError, OverflowError, struct.error):
        vector = []
    if not vector:
        raise Fault(FaultKind.BAD_ANSWER, "a vector is neither a list of numbers nor base64 of float32")
    if not math.isfinite(sum(number * number for number in vector)):
        raise Fault(FaultKind.BAD_ANSWER, "a vector holds numbers that are not finite, or too large to compare")
    return vector
