"""Untrusted JSON, read like Python's json module but several times as fast, and canonical JSON for digests.

NaN, infinities and lone surrogates are accepted, as Python writes them. Nesting beyond `DEEPEST` levels is refused, so
that recursive callers cannot overflow the stack.
"""

import json
from typing import Any, TypeVar, cast

import msgspec

from console.core.ready_type import ready_type

DecodedT = TypeVar("DecodedT")
DEEPEST = 200
"""Maximum nesting of objects and lists."""


class TooDeepError(ValueError):
    """The value is nested too deeply."""

    def __init__(self) -> None:
        super().__init__(f"it is nested deeper than {DEEPEST} levels")


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON string; bytes are decoded as UTF-8.

    Raises:
        ValueError: not JSON, not UTF-8, nested too deeply, or with a number too long to parse; see the message.
    """
    try:
        value = _decode(text)
    except RecursionError:
        raise TooDeepError from None
    marks = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    if sum(text.count(mark) for mark in marks) > DEEPEST and _is_deep(value):  # pyright: ignore[reportArgumentType]
        raise TooDeepError
    return value


def decode_as(text: bytes, kind: type[DecodedT]) -> DecodedT:
    """Decode a strict JSON string as the given type.

    Raises:
        ValueError: not JSON, not UTF-8, nested too deeply, or not of this type; the message names the problem.
    """
    try:
        return msgspec.json.decode(text, type=ready_type(kind))
    except RecursionError:
        raise TooDeepError from None


def _decode(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):  # the strict reader refuses some of Python's output
        return json.loads(text.decode("utf-8") if isinstance(text, bytes) else text)


def _is_deep(value: Any) -> bool:
    """Return whether a value is nested too deeply, checking one level at a time."""
    level = _parts(value)
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [part for item in level for part in _parts(item)]
    return True


def _parts(value: Any) -> list[Any]:
    """Return the values in an object or a list; empty for anything else."""
    if isinstance(value, dict):
        return list(cast(dict[str, Any], value).values())
    return cast(list[Any], value) if isinstance(value, list) else []


def canonical_json(value: Any) -> bytes:
    """Return a value as JSON with sorted keys, for digests; lone surrogates, which UTF-8 cannot encode, are escaped."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), sort_keys=True).encode()


def as_object(value: object) -> dict[str, Any]:
    """Return a decoded JSON object, or an empty one for any other value."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def as_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a decoded JSON list; anything else is dropped."""
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
