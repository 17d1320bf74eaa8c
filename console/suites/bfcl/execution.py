"""From one step of a conversation to the call texts that are executed, in the official wording.

A step that cannot be decoded, or decodes to nothing, holds no calls; that ends a turn.
"""

import json
from typing import Any, cast

from console.suites.bfcl.decode.python import decode_python
from console.suites.bfcl.decode.reply import cleaned


def executable_calls(step: Any, mode: str) -> list[str]:
    """Return the call texts of a step; empty when it holds none. Never raises.

    Args:
        step: the reply's text, or the recorded list of native calls.
        mode: `prompt` or `fc`.
    """
    try:
        if mode == "fc":
            return _native(step)
        return [_call_text(call) for call in decode_python(cleaned(step))]
    except (Exception, MemoryError):  # every failure to decode means that there is no call
        return []


def _native(step: Any) -> list[str]:
    """Write recorded native calls; arguments may be JSON text or an object."""
    items = cast(list[dict[str, Any]], [step] if isinstance(step, dict) else step)
    return [_native_text(name, arguments) for item in items for name, arguments in item.items()]


def _native_text(name: str, arguments: Any) -> str:
    parsed = cast(dict[str, Any], json.loads(arguments) if isinstance(arguments, str) else arguments)
    return f"{name}({','.join(f'{key}={value!r}' for key, value in parsed.items())})"


def _call_text(call: dict[str, dict[str | None, Any]]) -> str:
    name, arguments = next(iter(call.items()))
    return f"{name}({_arguments(arguments)})"


def _arguments(arguments: dict[Any, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in arguments.items())


def _value(value: Any) -> str:
    """Write a value; a dictionary of nothing but dictionaries is taken for a nested call.

    Raises:
        ValueError: an empty dictionary, which makes the step undecodable.
    """
    if not isinstance(value, dict):
        return repr(value)
    entries = cast(dict[Any, Any], value)
    if all(isinstance(part, dict) for part in entries.values()):
        if not entries:
            raise ValueError("an empty dictionary cannot be written")
        name = next(iter(entries))
        return f"{name}({_arguments(entries[name])})"
    return "{" + ", ".join(f"'{key}': {_value(part)}" for key, part in entries.items()) + "}"
