"""JSON schemas that are plainly right: known by their form, without the library that decides about all others.

Rows are checked when cases are counted, on the way to the first screen; loading `jsonschema` takes a tenth of a second.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from console.suites.dialogue import bounded_regex

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def is_plain(schema: Any) -> bool:
    """Whether a schema has only common keywords, each with a value of the right form; False says nothing."""
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
    return isinstance(value, str) and not bounded_regex.problem_of(value)


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
