"""Calls written as JSON objects that name the function and its arguments, `[{"name": …, "arguments": {…}}, …]`."""

import json
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.call_text import Call, call_text
from console.benchmarks.bfcl.models.decode.prompted import text_of


def named_calls(items: Any, name: str = "name", arguments: str = "arguments") -> list[Call]:
    """Return the calls; further keys of an object are ignored, and what the arguments are is not looked at.

    Raises:
        Exception: of any kind: nothing that can be gone through, an item that is no object, or lacks a key.
    """
    return [{item[name]: item[arguments]} for item in items]


def named_call_texts(items: Any, name: str = "name", arguments: str = "arguments") -> list[str]:
    """Return the texts of the calls; here a name may be anything, as it is only written down.

    Raises:
        Exception: of any kind, as `named_calls`; also arguments that are no object.
    """
    return [call_text(item[name], item[arguments]) for item in items]


def listed(value: Any) -> list[Any]:
    """Return a value that stands alone as a list of one."""
    return cast(list[Any], value) if isinstance(value, list) else [value]


def read_json(output: Any) -> Any:
    """Return the value of a JSON text; NaN and infinities are let in, as Python's reader does.

    Raises:
        ValueError: it is not JSON.
        TypeError: it is no text.
    """
    return json.loads(text_of(output))
