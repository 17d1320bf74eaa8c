"""Values and acceptable values as short source text for review. Foreign text stays as it is; only its length is cut."""

from collections.abc import Mapping
from typing import Any, cast

_LONGEST = 4000


def literal(value: Any) -> str:
    """Return a value as Python source text."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = f"<{type(value).__name__} too large to show>"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def alternatives(allowed: Any) -> tuple[str, ...]:
    """Return the acceptable values as texts; the one that stands for leaving out is not among them."""
    values = cast(list[Any], allowed if isinstance(allowed, list) else [allowed])
    return tuple(_accepted(value) for value in values if value != "")


def call_text(name: str, arguments: Mapping[Any, Any]) -> str:
    """Return a call as source text."""
    return f"{name}({', '.join(f'{key}={literal(value)}' for key, value in arguments.items())})"


def _accepted(value: Any) -> str:
    """Return one acceptable value; in dictionaries every key shows its own alternatives, `?` marks optional keys."""
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
