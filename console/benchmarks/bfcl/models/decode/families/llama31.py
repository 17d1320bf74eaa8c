"""Calls as Python literals, or as JSON texts with semicolons between them; officially the former are evaluated."""

import json
from typing import Any

from console.benchmarks.bfcl.models.decode.arithmetic import literal_value
from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import named_call_texts, named_calls
from console.benchmarks.bfcl.models.decode.prompted import text_of
from console.benchmarks.bfcl.models.decode.python import parse_expression


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return named_calls(_items(output), arguments="parameters")


def _executable(step: Any) -> list[str]:
    return named_call_texts(_items(step), arguments="parameters")


def _items(output: Any) -> Any:
    text = text_of(output).replace("<|python_tag|>", "")
    if ";" in text:  # also within a string
        return [json.loads(part) for part in text.split(";")]
    value = literal_value(parse_expression(text.lstrip(" \t")))
    return [value] if isinstance(value, dict) else value


FAMILY = Family(_decode, _executable)
