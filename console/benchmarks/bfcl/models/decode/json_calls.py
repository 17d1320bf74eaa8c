"""Calls written as JSON: `[{"function": name, "parameters": {…}}, …]`, asked for by format sensitivity only.

The list is searched in the text in linear time; the official pattern finds the same but is exponential in the number of
objects when the closing bracket is missing. A JSON syntax error is an empty list of calls, not a failure.
"""

import json
import re
from typing import Any, cast

_START = re.compile(r"\[\s*\{")
_END = re.compile(r"\}\s*\]")


def decode_json(text: str) -> list[dict[str, Any]]:
    """Return the calls.

    Raises:
        Exception: of any kind: an object lacks a key, its name is no text, or the value is not a list.
    """
    try:
        items = json.loads(_list_in(text))
    except json.JSONDecodeError:
        return []
    objects = [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
    return [{item["function"]: item["parameters"]} for item in objects]


def _list_in(text: str) -> str:
    """Return the part that is parsed: from the first `[{` to the first `}]` after it, blanks between allowed."""
    first, last = text.find("["), text.rfind("]")
    if 0 <= first < last:
        text = text[first : last + 1]
    start = _START.search(text)
    end = _END.search(text, start.end()) if start else None
    return text[start.start() : end.end()] if start and end else text
