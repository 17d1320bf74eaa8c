"""Cells of a table as fields: most are texts as they are, some hold JSON, and lists have a simple form too."""

from collections.abc import Callable, Mapping
from typing import Any

from console.benchmarks.dialogue.rules.mistakes import FieldError
from console.core.json_text import read_json

_SEPARATOR = " | "


def read_cells(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of fields that are given as texts.

    A list may be written as JSON, or with ` | ` between its items; turns may stand on lines of their own.

    Raises:
        FieldError: a cell is not what its field needs.
    """
    return {name: _READERS.get(name, _text)(text, name) for name, text in fields.items()}


def _text(text: str, name: str) -> Any:
    return text


def _json(text: str, name: str) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise FieldError(name, f"must be JSON in its cell: {error}") from None


def _json_if_marked(text: str, name: str) -> Any:
    """Read what begins like JSON as such; other texts are what they say."""
    return _json(text, name) if text.lstrip().startswith(("{", "[")) else text


def _items(text: str, name: str) -> Any:
    """Read a list as JSON or in its simple form; a single item is a text."""
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
    **dict.fromkeys(("equals", "contains"), _items),
    "turns": _turns,
    "not_called": _not_called,
    "user": _user,
    "judge": _json_if_marked,
}
"""By field; others are texts."""
