"""Fast acceptance of simple JSON schemas and regular expressions, without loading `jsonschema` and `regex`.

Loading them takes 0.1 s, and rows are validated before the first screen.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

_LONGEST_PATTERN = 1_000
"""Maximum number of characters in an expression tested here."""
MOST_REPEATED = 20_000
"""Maximum parts of an expression with counted repetitions expanded, as when compiled; each takes half a kilobyte."""
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,\d*)?\}|.", re.DOTALL)
_MAY_BE_OTHER = re.compile(r":\]|\{(?!\d+(,\d*)?\})|\(\?(?:R|[-+]?\d|&|P>)")
"""Syntax of `regex` that `re` takes literally: `[[:name:]]`, `{e<=1}`, and recursion in a set, which is refused."""
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def is_plain_pattern(pattern: str) -> bool:
    """Return True if `re` accepts an expression that uses no syntax specific to `regex`; False is inconclusive."""
    if len(pattern) > _LONGEST_PATTERN or written_out(pattern) > MOST_REPEATED or _MAY_BE_OTHER.search(pattern):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # reject syntax that may change its meaning
            re.compile(pattern)
    except (re.error, FutureWarning, DeprecationWarning, ValueError, OverflowError, RecursionError, MemoryError):
        return False
    return True


def written_out(pattern: str) -> int:
    """Return the approximate number of parts of an expression with its counted repetitions expanded."""
    totals, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        text, count = token[0], token[1]
        if text == "(":
            totals.append(0)
            last = 0
            continue
        if count is not None:
            size = last * (max(1, int(count[:9])) - 1)
        elif text == ")" and len(totals) > 1:
            size = last = totals.pop() or 1
        else:
            size = last = 1
        totals[-1] += size
        last += size if count is not None else 0
    return sum(totals)


def is_plain_schema(schema: Any) -> bool:
    """Return True if a schema has only common keywords with valid values; False is inconclusive."""
    try:
        return _is_plain(schema)
    except RecursionError:
        return False


def _is_plain(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    parts = cast(dict[str, Any], schema)
    return all(key in _FORMS and _FORMS[key](part) for key, part in parts.items())


def _are_plain(schemas: Any) -> bool:
    return isinstance(schemas, dict) and all(map(_is_plain, cast(dict[str, Any], schemas).values()))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_names(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    names = cast(list[Any], value)
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) and is_plain_pattern(value)


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "type": lambda value: isinstance(value, str) and value in _TYPES,
    "const": lambda value: True,
    "enum": lambda value: isinstance(value, list),
    "title": lambda value: isinstance(value, str),
    "description": lambda value: isinstance(value, str),
    "properties": _are_plain,
    "required": _are_names,
    "additionalProperties": lambda value: isinstance(value, bool) or _is_plain(value),
    "items": _is_plain,
    "uniqueItems": lambda value: isinstance(value, bool),
    "pattern": _is_pattern,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"), _is_count),
}
