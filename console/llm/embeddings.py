"""Vectors from an OpenAI-style `/embeddings` answer, in the order of the texts."""

import base64
import struct
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind

BATCH = 256
"""Texts in one request."""


def embedding_body(model: ModelConfig, texts: list[str]) -> dict[str, Any]:
    """Return the request body. Base64 is asked for, as OpenAI's own client does: the float32 values arrive exact."""
    return {"model": model.model_id, "input": texts, "encoding_format": "base64", **model.params}


def read_vectors(value: object, count: int) -> list[list[float]]:
    """Return the vectors of an answer to `count` texts.

    Raises:
        Fault: `bad_answer`, when a vector is missing, doubled, empty, or of another length than the rest.
    """
    data = cast(dict[str, Any], value).get("data") if isinstance(value, dict) else None
    rows = cast(list[Any], data) if isinstance(data, list) else []
    by_index: dict[int, list[float]] = {}
    for number, row in enumerate(rows):
        fields = cast(dict[str, Any], row) if isinstance(row, dict) else {}
        index = fields.get("index")
        by_index[index if isinstance(index, int) else number] = _vector(fields.get("embedding"))
    if sorted(by_index) != list(range(count)):
        raise Fault(FaultKind.BAD_ANSWER, f"{len(by_index)} vectors came for {count} texts")
    if len({len(vector) for vector in by_index.values()} | {0}) != 2:
        raise Fault(FaultKind.BAD_ANSWER, "the vectors are empty or of unequal length")
    return [by_index[number] for number in range(count)]


def tokens_of(value: object) -> int | None:
    """Return how many tokens an answer says it counted; None when it does not say, or absurdly."""
    usage = cast(dict[str, Any], value).get("usage") if isinstance(value, dict) else None
    count = cast(dict[str, Any], usage).get("prompt_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 1 << 40 else None


def _vector(value: object) -> list[float]:
    try:
        if isinstance(value, str):
            raw = base64.b64decode(value, validate=True)
            return list(struct.unpack(f"<{len(raw) // 4}f", raw))
        return [float(number) for number in cast(list[Any], value)] if isinstance(value, list) else []
    except (ValueError, TypeError, OverflowError, struct.error):
        raise Fault(FaultKind.BAD_ANSWER, "a vector is neither numbers nor base64 of float32") from None
