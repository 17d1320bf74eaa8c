"""Conversion of JavaScript argument strings to Python values by documented type; a misfit stays a string.

The rules are equivalent to the official ones. Two-dimensional arrays, whose official pattern is exponential on unclosed
input, are matched in linear time; very long strings are not converted.
"""

import re
from collections.abc import Iterator
from typing import Any

from console.suites.call_matching.written_value import (
    LONGEST,
    Rule,
    as_it_is,
    boolean,
    converter,
    matching,
    number_or_text,
)

_ROWS_OPEN = re.compile(r"\[\s*\[|\bnew\s+Array\(\s*\[")
_NEXT_ROW = re.compile(r",\s*\[")
_ROW = re.compile(r"\[(.*?)\]")
_LIST = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_OBJECT = re.compile(r"\{(.*?)\}")
_BLANKS = re.compile(r"\s*")


def _string(text: str, _: str | None) -> str:
    for quote in ('"', "'"):
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1]
    return text


def _array(text: str, items: str | None) -> Any:
    text = text.strip()
    if len(text) > LONGEST:
        return text
    try:
        end = _rows_end(text)
        return _rows(text[:end]) if end is not None else _flat(text, items)
    except ValueError:
        return text


def _rows(text: str) -> list[list[Any]]:
    """Parse the rows of a two-dimensional array; the first match includes the outer bracket, which is removed."""
    rows: list[list[Any]] = []
    for number, inner in enumerate(match.strip() for match in _ROW.findall(text)):
        body = inner[1:] if number == 0 and inner.startswith("[") else inner
        rows.append([_untyped(part.strip()) for part in body.split(",")])
    return rows


def _rows_end(text: str) -> int | None:
    """Return the end of a two-dimensional array at the start of the text, or None.

    A row ends at the first closing bracket on its line from which the rest still matches, preferring further rows over
    the end of the array. Scans from right to left, visiting each position once.
    """
    opening = _ROWS_OPEN.match(text)
    if opening is None:
        return None
    closing = "]" if text.startswith("[") else ")"
    after_row: dict[int, int] = {}
    """End of the array by position of a row's closing bracket."""
    nearest: list[int | None] = [None] * (len(text) + 1)
    """The next such bracket on the same line, by position."""
    for position in range(len(text) - 1, opening.end() - 1, -1):
        nearest[position] = None if text[position] == "\n" else nearest[position + 1]
        if text[position] == "]":
            end = _after(text, position + 1, closing, nearest, after_row)
            if end is not None:
                after_row[position] = end
                nearest[position] = position
    first = nearest[opening.end()]
    return None if first is None else after_row[first]


def _after(text: str, position: int, closing: str, nearest: list[int | None], after_row: dict[int, int]) -> int | None:
    while position < len(text) and text[position].isspace():
        position += 1
    more = _NEXT_ROW.match(text, position)
    if more and (row_end := nearest[more.end()]) is not None:
        return after_row[row_end]
    return position + 1 if text[position : position + 1] == closing else None


def _flat(text: str, items: str | None) -> Any:
    match = _LIST.match(text)
    if match is None:
        return text
    inner = (match[1] if match[1] is not None else match[2]).strip()
    parts = [part.strip() for part in inner.split(",")] if inner else []
    return [javascript_value(part, items) if items else _untyped(part) for part in parts]


def _object(text: str, _: str | None) -> Any:
    text = text.strip()
    if text == "{}":
        return {}
    match = _OBJECT.match(text) if len(text) <= LONGEST else None
    if match is None:
        return text
    try:
        return {key.strip().strip("'\""): _entry(value.strip()) for key, value in _entries(match[1])}
    except ValueError:
        return text


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield keys and values of an object on one line, in linear time.

    Equivalent to the official pattern: a key ends at a colon, and its value ends at the first comma followed by a key
    of at least one character and a colon before the next comma, with optional leading whitespace.
    """
    position = 0
    while True:
        while text.startswith(":", position):
            position += 1
        colon = text.find(":", position)
        if colon < 0:
            return
        start = _BLANKS.match(text, colon + 1).end()  # pyright: ignore[reportOptionalMemberAccess] - matches anywhere
        end, following = _value_end(text, start)
        yield text[position:colon], text[start:end]
        position = following


def _value_end(text: str, start: int) -> tuple[int, int]:
    """Return the end of a value and the start of the next key."""
    comma = text.find(",", start)
    while comma >= 0:
        key = _BLANKS.match(text, comma + 1).end()  # pyright: ignore[reportOptionalMemberAccess] - matches anywhere
        after = text.find(",", key)
        if text.rfind(":", key + 1, len(text) if after < 0 else after) >= 0:
            return comma, key
        if key > comma + 1 and text.startswith(":", key):  # the blank before the colon is the key
            return comma, key - 1
        comma = after
    return len(text), len(text)


def _entry(value: str) -> Any:
    if value.startswith("[") and value.endswith("]"):
        return _array(value, None)
    if value.startswith("{") and value.endswith("}"):
        return _object(value, None)
    return _untyped(value.strip("'\""))


def _untyped(text: str) -> Any:
    """Convert a string of unknown type."""
    text = text.strip()
    if text in ("true", "false"):
        return boolean(text)
    bare = _string(text, None)
    return bare if bare is not text else number_or_text(text)


_RULES: dict[str, Rule] = {
    "String": _string,
    "integer": matching(r"-?\d+$", int),
    "float": matching(r"-?\d+(\.\d+)?$", float),
    "Bigint": matching(r"-?\d+n$", lambda text: int(text[:-1])),
    "Boolean": boolean,
    "array": _array,
    "dict": _object,
    "any": as_it_is,
}
javascript_value = converter("JavaScript", _RULES)
"""Converter of JavaScript argument strings without outer quotes."""
