"""Parsing of table cells to field values: plain strings, JSON, or lists in a simple format."""

from collections.abc import Callable, Mapping
from typing import Any

from console.benchmarks.dialogue.rules.mistakes import FieldError
from console.core.fault import reason_of
from console.core.json_text import read_json

_SEPARATOR = " | "


def read_cells(fields: Mapping[str, str]) -> dict[str, Any]:
    """Parse the cells of a row by field.

    Lists are JSON or separated by ` | `; turns may also be separated by line breaks.

    Raises:
        FieldError: invalid content for a field.
    """
    return {name: _READERS.get(name, _text)(text, name) for name, text in fields.items()}


def _text(text: str, name: str) -> Any:
    return text


def _json(text: str, name: str) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise FieldError(name, f"must be JSON in its cell: {reason_of(error)}") from None


def _json_if_marked(text: str, name: str) -> Any:
    """Parse JSON objects and lists; return other strings unchanged."""
    return _json(text, name) if text.lstrip().startswith(("{", "[")) else text


def _items(text: str, name: str) -> Any:
    """Parse a list as JSON or in the simple format; a single item stays a string."""
    if text.lstrip().startswith("["):
        return _json(text, name)
    return [part.strip() for part in text.split(_SEPARATOR)] if _SEPARATOR in text else text


def _turns(text: str, name: str) -> Any:
    if text.lstrip().startswith("["):
        return _json(text, name)
    parts = text.split(_SEPARATOR) if _SEPARATOR in text else text.split("\n")
    return [part.strip() for part in parts if part.strip()]


def _not_called(text: str, name: str) -> Any:
    return True if text.strip().lower() == "true" else _items(text, name)


def _user(text: str, name: str) -> Any:
    return _json(text, name) if text.lstrip().startswith("{") else {"goal": text}


_READERS: dict[str, Callable[[str, str], Any]] = {
    **dict.fromkeys(("messages", "tools", "tool_results", "expect", "json", "calls", "simulated"), _json),
    **dict.fromkeys(("equals", "contains", "choices", "images", "files"), _items),
    "shuffle": _json,
    "instructions": _json,
    "turns": _turns,
    "not_called": _not_called,
    "user": _user,
    "judge": _json_if_marked,
}
"""Parser by field; default: `_text`."""
