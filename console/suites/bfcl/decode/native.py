"""Native tool calls, in the recorded form: a list of objects `{name: "<JSON text of the arguments>"}`."""

import json
from typing import Any


def decode_native(output: Any) -> list[dict[str, Any]]:
    """Return the calls; of each object only the first key counts. An empty output is an empty list.

    Raises:
        Exception: of any kind: plain text, arguments that are not JSON text, or another shape.
    """
    calls: list[dict[str, Any]] = []
    for item in output:
        name = next(iter(item.keys()))
        calls.append({name: json.loads(item[name])})
    return calls
