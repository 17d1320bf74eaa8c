"""The type rule of the single-turn checker, which includes one level of list items."""

from dataclasses import dataclass
from typing import Any, cast

TYPES: dict[str, dict[str, type]] = {
    "python": {
        "string": str,
        "any": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
    },
    "java": {
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        "boolean": bool,
        **dict.fromkeys(("char", "String", "any"), str),
        **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
        "Set": set,
        **dict.fromkeys(("HashMap", "Hashtable"), dict),
    },
    "javascript": {
        **dict.fromkeys(("integer", "Bigint"), int),
        "float": float,
        "Boolean": bool,
        **dict.fromkeys(("String", "any"), str),
        "array": list,
        "dict": dict,
    },
}
"""Python type by language and documented type."""
ITEM_KINDS = {"python": ("array", "tuple"), "java": ("Array", "ArrayList"), "javascript": ("array",)}
"""Documented types with checked items, by language."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Result of the type rule."""

    error_type: str = ""
    is_variable: bool = False
    """True if the ground truth's type differs from the document (a variable name), so only equal values count."""


def first_type(allowed: list[Any]) -> type | None:
    """Return the type of the first acceptable value other than `""`, or None."""
    first = next(([value] for value in cast(list[object], allowed) if value != ""), None)
    return None if first is None else type(first[0])


def check_type(value: Any, allowed: list[Any], expected: type, item: type | None) -> Typed:
    """Check the type of a value.

    Args:
        value: the converted value.
        allowed: the acceptable values.
        expected: the documented type.
        item: the type of list items, if checked.
    """
    first = first_type(allowed)
    nested_failed = False
    if type(value) is expected:
        if item is None or _items_fit(value, allowed, item):
            return Typed(is_variable=first is not None and first is not expected)
        nested_failed = True
    if first is not None and type(value) is first:
        return Typed("type_error:nested") if nested_failed else Typed(is_variable=True)
    return Typed("type_error:simple")


def _items_fit(value: list[Any], allowed: list[Any], item: type) -> bool:
    """Return whether an acceptable list accepts all items; an acceptable non-list accepts anything."""
    for accepted in allowed:
        if not isinstance(accepted, list):
            return True
        first = first_type(cast(list[Any], accepted))
        if all(type(part) is item or type(part) is first for part in value):
            return True
    return False
