"""Calls as JSON: a list of `{"name": …, "arguments": {…}}`, or one of them."""

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
    return named_calls(listed(read_json(output)))


FAMILY = Family(_decode, _executable)
