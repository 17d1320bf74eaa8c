"""Native calls as `{"tool_name": …, "parameters": {…}}`; whatever is no list holds none."""

from typing import Any

from console.suites.bfcl.decode.call_text import Call, call_texts
from console.suites.bfcl.decode.family import Family, Form
from console.suites.bfcl.decode.named_calls import named_calls


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return _calls(output)


def _executable(step: Any) -> list[str]:
    return call_texts(_calls(step))


def _calls(output: Any) -> list[Call]:
    return named_calls(output, "tool_name", "parameters") if isinstance(output, list) else []


FAMILY = Family(_decode, _executable)
