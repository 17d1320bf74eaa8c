"""Calls as JSON, perhaps in fences; what is no JSON holds no calls. What is executed may stand under `tool_calls`."""

import json
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.families.mining import executable_named
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import listed, named_calls
from console.benchmarks.bfcl.models.decode.prompted import text_of


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return named_calls(_value(output))


def _executable(step: Any) -> list[str]:
    value = _value(step)
    if isinstance(value, dict):
        value = listed(cast(dict[str, Any], value).get("tool_calls", []))
    return executable_named(cast(list[Any], value)) if isinstance(value, list) else []


def _value(output: Any) -> Any:
    try:
        return json.loads(text_of(output).replace("```", ""))
    except (ValueError, RecursionError):
        return []


FAMILY = Family(_decode, _executable)
