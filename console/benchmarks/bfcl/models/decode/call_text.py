"""Formatting of calls to executable strings: `name(key=value, …)`, with Python literals.

Some handlers omit the space after a comma, and those that parse Python treat a dictionary of dictionaries as a nested
call.
"""

from collections.abc import Iterable
from typing import Any, cast

Call = dict[Any, dict[Any, Any]]


def call_texts(calls: Iterable[Call], separator: str = ",") -> list[str]:
    """Format calls; every key of an object is a separate call.

    Raises:
        AttributeError: a call or its arguments are not an object.
    """
    return [call_text(name, arguments, separator) for call in calls for name, arguments in call.items()]


def call_text(name: Any, arguments: dict[Any, Any], separator: str = ",") -> str:
    """Format one call.

    Raises:
        AttributeError: the arguments are not an object.
    """
    return f"{name}({separator.join(f'{key}={value!r}' for key, value in arguments.items())})"


def nested_call_texts(calls: Iterable[Call]) -> list[str]:
    """Format calls parsed from Python, including nested calls.

    Raises:
        ValueError: an empty dictionary, which makes a step undecodable.
    """
    return [f"{name}({_arguments(arguments)})" for call in calls for name, arguments in call.items()]


def _arguments(arguments: dict[Any, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in arguments.items())


def _value(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    entries = cast(dict[Any, Any], value)
    if all(isinstance(part, dict) for part in entries.values()):
        if not entries:
            raise ValueError("an empty dictionary cannot be written")
        name = next(iter(entries))
        return f"{name}({_arguments(entries[name])})"
    return "{" + ", ".join(f"'{key}': {_value(part)}" for key, part in entries.items()) + "}"
