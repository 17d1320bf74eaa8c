"""Native calls as `{"tool_name": …, "parameters": {…}}`; whatever is no list holds none."""

from typing import Any, cast

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import named_call_texts, named_calls


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return named_calls(output, "tool_name", "parameters") if isinstance(output, list) else []


def _executable(step: Any) -> list[str]:
    items: list[Any] = cast(list[Any], step) if isinstance(step, list) else []
    return named_call_texts(items, "tool_name", "parameters")


FAMILY = Family(_decode, _executable)
