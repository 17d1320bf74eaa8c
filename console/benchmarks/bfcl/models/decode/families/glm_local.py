"""One call: its name on the first line, JSON of its arguments on the second."""

import json
from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call, call_text
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.prompted import text_of


def _decode(output: Any, form: Form) -> list[Call | str]:
    del form
    lines = text_of(output).split("\n")
    return [{lines[0]: json.loads(lines[1])}] if len(lines) > 1 else [lines[0]]


def _executable(step: Any) -> list[str]:
    if not text_of(step):
        return []
    name, line, rest = step.partition("\n")
    if not line:
        raise ValueError("a single line holds no call")
    return [call_text(name, json.loads(rest.split("\n")[0]))]


FAMILY = Family(_decode, _executable)
