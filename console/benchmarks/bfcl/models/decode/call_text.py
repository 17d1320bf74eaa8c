"""Calls as the texts that are executed: `name(key=value, …)`, values as Python writes them.

The handlers differ in two things: some write no blank after a comma, and those that read Python texts take a dictionary
of nothing but dictionaries for a nested call.
"""

from collections.abc import Iterable
from typing import Any, cast

Call = dict[Any, dict[Any, Any]]


def call_texts(calls: Iterable[Call], separator: str = ",") -> list[str]:
    """Return the texts of calls; every key of an object is a call of its own.

    Raises:
        AttributeError: a call is no object, or its arguments are none.
    """
    return [call_text(name, arguments, separator) for call in calls for name, arguments in call.items()]


def call_text(name: Any, arguments: dict[Any, Any], separator: str = ",") -> str:
    """Return the text of one call.

    Raises:
        AttributeError: the arguments are no object.
    """
    return f"{name}({separator.join(f'{key}={value!r}' for key, value in arguments.items())})"


def nested_call_texts(calls: Iterable[Call]) -> list[str]:
    """Return the texts of calls that were written in Python, nested calls as calls.

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
