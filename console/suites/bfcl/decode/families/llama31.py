"""Calls as Python literals, or as JSON texts with semicolons between them; officially the former are evaluated."""

import json
from typing import Any

from console.suites.bfcl.decode.arithmetic import literal_value
from console.suites.bfcl.decode.call_text import Call, call_texts
from console.suites.bfcl.decode.family import Family, Form
from console.suites.bfcl.decode.named_calls import named_calls
from console.suites.bfcl.decode.prompted import text_of
from console.suites.bfcl.decode.python import parse_expression


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return _calls(output)


def _executable(step: Any) -> list[str]:
    return call_texts(_calls(step))


def _calls(output: Any) -> list[Call]:
    text = text_of(output).replace("<|python_tag|>", "")
    if ";" in text:  # also within a string
        return named_calls([json.loads(part) for part in text.split(";")], arguments="parameters")
    value = literal_value(parse_expression(text.lstrip(" \t")))
    return named_calls([value] if isinstance(value, dict) else value, arguments="parameters")


FAMILY = Family(_decode, _executable)
