"""As `bitagent`, or several JSON texts with semicolons between them where the whole is none."""

import json
from typing import Any

from console.suites.bfcl.decode.call_text import Call, call_texts
from console.suites.bfcl.decode.family import Family, Form
from console.suites.bfcl.decode.named_calls import listed, named_calls, read_json


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return _calls(output)


def _executable(step: Any) -> list[str]:
    return call_texts(_calls(step))


def _calls(output: Any) -> list[Call]:
    try:
        value = read_json(output)
    except json.JSONDecodeError:
        value = [json.loads(part.strip()) for part in output.split(";")]
    return named_calls(listed(value))


FAMILY = Family(_decode, _executable)
