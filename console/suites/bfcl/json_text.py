"""Reading JSON as Python's own module does, several times as fast for what is ordinary."""

import json
from typing import Any

import msgspec


def read_json(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8; NaN, infinities and lone surrogates are let in.

    Raises:
        ValueError: it is not JSON, or not UTF-8.
        RecursionError: it is nested too deeply.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):  # the strict reader refuses what Python writes
        return json.loads(text.decode("utf-8"))
