"""Conversion of Java argument strings to Python values by documented type; a string that does not fit stays a string.

The patterns are equivalent to the official ones and match anywhere. Cheap tests guard against polynomial backtracking
on hostile strings, and very long strings are not converted.
"""

import re
from collections.abc import Callable
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

_DOUBLE = r"-?\d+(\.\d+)?([eE][+-]?\d+)?"
_LONG = re.compile(r"-?\d+[lL]$")
_FLOAT = re.compile(rf"{_DOUBLE}[fF]$")
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ADDING = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{")
_ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", re.DOTALL)
_ADD = re.compile(r"add\((.+?)\)")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(.*?)\}")
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_PUTTING = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{", re.DOTALL)
_PUTS = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", re.DOTALL)
_PUT = re.compile(r"put\(\"(.*?)\",\s*(.*?)\)")


def _without_suffix(text: str, letters: str, convert: Callable[[str], Any]) -> Any:
    """Convert without the type suffix, which a line feed may follow, as the pattern's `$` allows."""
    body = text.removesuffix("\n")
    return convert(body[:-1] if body[-1:] in letters else body)


def _array_list(text: str, items: str | None) -> Any:
    if len(text) > LONGEST:
        return text
    if match := _AS_LIST.search(text):
        return [_element(part.strip(), items) for part in match[1].split(",")]
    if match := _added(text):
        return [_element(part.strip(), items) for part in _ADD.findall(match[1])]
    return [] if _EMPTY_LIST.search(text) else text


def _added(text: str) -> re.Match[str] | None:
    opening = _ADDING.search(text)
    closes = opening is not None and text.find("}}", opening.end() + 1) >= 0
    return _ADDED.search(text) if closes else None


def _array(text: str, items: str | None) -> Any:
    match = _ARRAY.search(text) if len(text) <= LONGEST else None
    if match is None:
        return text
    parts = [part.strip() for part in match[1].split(",") if part.strip()]
    return [java_value(part, items) if items else _untyped(part) for part in parts]


def _hash_map(text: str, _: str | None) -> Any:
    if len(text) > LONGEST:
        return text
    opening = _PUTTING.search(text)
    if opening and text.find("}", opening.end()) >= 0 and (match := _PUTS.search(text)):
        return {key: _untyped(value.strip()) for key, value in _PUT.findall(match[1])}
    return {} if _EMPTY_MAP.search(text) else text


def _element(text: str, items: str | None) -> Any:
    if items in ("String", "char"):
        return text[1:-1]
    return java_value(text, items) if items else _untyped(text)


def _untyped(text: str) -> Any:
    """Convert an element of unknown type."""
    if text in ("true", "false"):
        return boolean(text)
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return _without_suffix(text, "fF", float)
    return number_or_text(text)


_RULES: dict[str, Rule] = {
    **dict.fromkeys(("byte", "short", "integer"), matching(r"-?\d+$", int)),
    "long": matching(_LONG.pattern, lambda text: _without_suffix(text, "lL", int)),
    "float": matching(_FLOAT.pattern, lambda text: _without_suffix(text, "fF", float)),
    "double": matching(f"{_DOUBLE}$", float),
    "boolean": boolean,
    **dict.fromkeys(("char", "String", "any"), as_it_is),
    "Array": _array,
    "ArrayList": _array_list,
    "HashMap": _hash_map,
}
java_value = converter("Java", _RULES)
"""Converter of Java argument strings without outer quotes."""
