"""The check of an answer that must be JSON of a schema."""

import re
from typing import Any

from console.benchmarks.dialogue.rules.bounded_schema import TooMuchWork, errors_of
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.row import JsonSchema
from console.core.json_text import read_json

_FENCE = re.compile(r"\A\s*```[\w-]{0,20}[ \t]*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)
LONGEST = 1_000_000
"""Characters of an answer that are still read as JSON."""


def check_json(check: JsonSchema, text: str) -> Finding:
    """Read the answer as JSON and apply the schema."""
    expected = "JSON of the schema"
    try:
        value = _read(text)
    except ValueError as error:
        return Finding("json", False, expected, text, "not_json", f"the answer is not JSON: {error}")
    try:
        errors = errors_of(check.json, value)
    except TooMuchWork as error:
        return Finding("json", None, expected, text, "too_slow", str(error))
    if not errors:
        return Finding("json", True, expected, text)
    subject = errors[0].partition(":")[0]
    return Finding("json", False, expected, text, "other_json", "; ".join(errors), subject)


def _read(text: str) -> Any:
    if len(text) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} characters")
    fenced = _FENCE.match(text)
    return read_json(fenced[1] if fenced else text)
