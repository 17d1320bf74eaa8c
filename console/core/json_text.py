"""Reading JSON that others wrote: as Python's own module reads it, several times as fast for what is ordinary.

NaN, infinities and lone surrogates are let in, as Python writes them. What is nested deeper than `DEEPEST` is refused:
whoever walks the value by recursion has enough room then, wherever it is called from.
"""

import json
from typing import Any, TypeVar, cast

import msgspec

FormT = TypeVar("FormT")
DEEPEST = 200
"""Levels of objects and lists in one another."""


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; bytes are UTF-8.

    Raises:
        ValueError: it is not JSON, not UTF-8, is nested too deeply, or has a number too long to read; says which.
    """
    try:
        value = _decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    marks = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    if sum(text.count(mark) for mark in marks) > DEEPEST and _is_deep(value):  # pyright: ignore[reportArgumentType]
        raise ValueError(_TOO_DEEP)
    return value


def decode_as(text: bytes, form: type[FormT]) -> FormT:
    """Return the value of a strict JSON text in a form.

    Raises:
        ValueError: it is not JSON, not UTF-8, nested too deeply, or not of this form; says which.
    """
    try:
        return msgspec.json.decode(text, type=form)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


_TOO_DEEP = f"it is nested deeper than {DEEPEST} levels"


def _decode(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):  # the strict reader refuses what Python writes
        return json.loads(text.decode("utf-8") if isinstance(text, bytes) else text)


def _is_deep(value: Any) -> bool:
    """Whether a value has too many levels; looked through level by level."""
    level = _parts(value)
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [part for item in level for part in _parts(item)]
    return True


def _parts(value: Any) -> list[Any]:
    """Return the values in an object or a list; a level above anything else holds nothing."""
    if isinstance(value, dict):
        return list(cast(dict[str, Any], value).values())
    return cast(list[Any], value) if isinstance(value, list) else []
