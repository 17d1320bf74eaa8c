"""Copies of JSON values; imports nothing heavy, since it is used in sandboxed workers too."""

import copy
from typing import Any, TypeVar, cast

ValueT = TypeVar("ValueT")


def copied(value: ValueT) -> ValueT:
    """Copy a JSON value, several times faster than `deepcopy`."""
    return cast("ValueT", _copied(value))


def _copied(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copied(part) for key, part in cast(dict[Any, Any], value).items()}
    if type(value) is list:
        return [_copied(part) for part in cast(list[Any], value)]
    return value if isinstance(value, str | int | float | None) else copy.deepcopy(value)
