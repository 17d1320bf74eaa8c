"""Calls as JSON: a list of `{"name": …, "arguments": {…}}`, or one of them."""

from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import listed, named_call_texts, named_calls, read_json


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return named_calls(_items(output))


def _executable(step: Any) -> list[str]:
    return named_call_texts(_items(step))


def _items(output: Any) -> Any:
    return listed(read_json(output))


FAMILY = Family(_decode, _executable)
