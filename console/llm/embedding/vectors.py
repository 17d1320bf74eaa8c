"""Reads the vectors of OpenAI-style `/embeddings` answers."""

import base64
import math
import struct
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object
from console.llm.wires.usage import token_count

BATCH = 256
"""Maximum number of texts per request."""


def embedding_body(model: ModelConfig, texts: list[str]) -> dict[str, Any]:
    """Return the request body; base64 keeps float32 values exact, as in OpenAI's client."""
    return {"model": model.model_id, "input": texts, "encoding_format": "base64", **model.params}


class VectorReader:
    """Reads the vectors of one model, which must have the same length in all answers."""

    def __init__(self) -> None:
        self._length: int | None = None

    def read(self, value: object, count: int) -> list[list[float]]:
        """Return the vectors of an answer to `count` texts.

        Raises:
            Fault: `bad_answer`, if a vector is missing, duplicate, not a list of numbers, or of another length than the
                others.
        """
        data = as_object(value).get("data")
        rows = cast(list[Any], data) if isinstance(data, list) else []
        by_index: dict[int, list[float]] = {}
        for number, row in enumerate(rows):
            fields = as_object(row)
            index = fields.get("index")
            place = number if index is None else index
            by_index[place if type(place) is int else -1] = _vector(fields.get("embedding"))
        if len(rows) != count or sorted(by_index) != list(range(count)):
            raise Fault(FaultKind.BAD_ANSWER, f"{len(rows)} vectors for {count} texts")
        lengths = {len(vector) for vector in by_index.values()} | ({self._length} if self._length else set[int]())
        if len(lengths) != 1:
            raise Fault(FaultKind.BAD_ANSWER, f"the vectors differ in length: {', '.join(map(str, sorted(lengths)))}")
        [self._length] = lengths
        return [by_index[number] for number in range(count)]


def tokens_of(value: object) -> int | None:
    """Return the token count of an answer, or None if it is missing or implausible."""
    return token_count(as_object(as_object(value).get("usage")).get("prompt_tokens"))


def _vector(value: object) -> list[float]:
    """Return one vector."""
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
        raise Fault(FaultKind.BAD_ANSWER, "a vector has numbers that are not finite, or too large to compare")
    return vector
