"""Native tool calls, in the recorded form: a list of objects `{name: "<JSON text of the arguments>"}`."""

import json
from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call, call_texts
from console.benchmarks.bfcl.models.decode.family import Family, Form


def _decode(output: Any, form: Form) -> list[Call]:
    """Return the calls; of each object only the first key counts. An empty output is an empty list."""
    del form
    calls: list[Call] = []
    for item in output:
        name = next(iter(item.keys()))
        calls.append({name: json.loads(item[name])})
    return calls


def executable_native(step: Any) -> list[str]:
    """Return the call texts; arguments may be JSON text or an object, and an object that stands alone is one item.

    Raises:
        Exception: of any kind: plain text, arguments that are not JSON text, or another shape.
    """
    items: list[Call] = [step] if isinstance(step, dict) else step
    return call_texts({name: _parsed(arguments) for name, arguments in item.items()} for item in items)


def _parsed(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


FAMILY = Family(_decode, executable_native)
