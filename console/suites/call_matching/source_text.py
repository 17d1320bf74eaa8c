"""Values and acceptable values as source text for review, truncated but otherwise unchanged."""

from collections.abc import Mapping
from typing import Any, cast

_LONGEST = 4000


def literal(value: Any) -> str:
    """Format a value as Python source."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = f"<{type(value).__name__} too large to show>"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def alternatives(allowed: Any) -> tuple[str, ...]:
    """Format the acceptable values, except `""`, which means optional."""
    values = cast(list[Any], allowed if isinstance(allowed, list) else [allowed])
    return tuple(_accepted(value) for value in values if value != "")


def call_text(name: str, arguments: Mapping[Any, Any]) -> str:
    """Format a call as Python source."""
    return f"{name}({', '.join(f'{key}={literal(value)}' for key, value in arguments.items())})"


def _accepted(value: Any) -> str:
    """Format one acceptable value; dictionary keys list their alternatives, with `?` on optional keys."""
    if isinstance(value, dict):
        return "{" + ", ".join(_key(key, values) for key, values in cast(dict[str, Any], value).items()) + "}"
    if isinstance(value, list) and any(isinstance(part, dict) for part in cast(list[Any], value)):
        return "[" + ", ".join(_accepted(part) for part in cast(list[Any], value)) + "]"
    return literal(value)


def _key(key: str, values: Any) -> str:
    if not isinstance(values, list):
        return f"{key!r}: {literal(values)}"
    listed = cast(list[Any], values)
    shown = " | ".join(literal(value) for value in listed if value != "") or "''"
    return f"{key!r}{'?' if '' in listed else ''}: {shown}"
