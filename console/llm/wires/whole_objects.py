"""Reads lists of objects without dropping any silently."""

from typing import Any, cast

from console.core.fault import Fault, FaultKind


def whole_objects(value: object, what: str) -> list[dict[str, Any]]:
    """Return a list of objects; None counts as empty.

    Args:
        value: part of a decoded answer.
        what: its name in messages.

    Raises:
        Fault: it is not a list, or an item of it is not an object.
    """
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in cast(list[Any], value)):
        raise Fault(FaultKind.BAD_ANSWER, f"the answer's {what} cannot be read: not a list of objects")
    return cast(list[dict[str, Any]], value)
