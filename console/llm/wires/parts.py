"""Strict reading of the parts of an answer: a part of the wrong type is a fault and never skipped.

Null counts as missing, because servers send either. An unreadable part may have held anything, so its reply proves
nothing.
"""

from collections.abc import Mapping
from typing import Any, cast

from console.core.fault import Fault, FaultKind

_TYPES: dict[type[Any], str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
}


def unread(what: str) -> Fault:
    """Return the fault for a part that is unreadable or contradicts another."""
    return Fault(FaultKind.BAD_ANSWER, what, hint="The server or a gateway before it breaks its API; update it.")


def text_in(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a text, or None if it is missing."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _wrong(name, value, "a text")


def name_in(fields: Mapping[str, Any], name: str) -> str:
    """Return a required text that is not empty."""
    value = text_in(fields, name)
    if not value:
        raise unread(f"the answer has a part without {name}")
    return value


def object_in(fields: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Return an object, or None if it is missing."""
    value = fields.get(name)
    if value is None or isinstance(value, dict):
        return cast(dict[str, Any] | None, value)
    raise _wrong(name, value, "an object")


def objects_in(fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a list of objects; empty if it is missing."""
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, value, "a list")
    items = cast(list[Any], value)
    for item in items:
        if not isinstance(item, dict):
            raise _wrong(f"an item of {name}", item, "an object")
    return items


def place_in(fields: Mapping[str, Any], name: str) -> int:
    """Return the required index of a part."""
    value = fields.get(name)
    if type(value) is not int:
        raise _wrong(name, value, "a number")
    return value


def _wrong(what: str, value: object, wanted: str) -> Fault:
    kind = _TYPES.get(type(value), "an object")
    return unread(f"a part of the answer cannot be read: {what} is {kind}, not {wanted}")
