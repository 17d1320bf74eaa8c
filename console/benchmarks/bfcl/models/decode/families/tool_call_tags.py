"""Calls as JSON objects between `<tool_call>` tags on lines of their own; those that cannot be parsed are dropped."""

import json
from collections.abc import Iterator
from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.families.dictlist_strict import objects_only
from console.benchmarks.bfcl.models.decode.families.fc_json import executable_native
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import named_calls
from console.benchmarks.bfcl.models.decode.prompted import text_of
from console.benchmarks.bfcl.models.decode.tags import all_between


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return [{name: dict(arguments.items())} for call in _calls(output) for name, arguments in call.items()]


def _executable(step: Any) -> list[str]:
    return executable_native(_calls(step))


def _calls(output: Any) -> list[Call]:
    return named_calls(objects_only(list(_parsed(text_of(output)))))


def _parsed(text: str) -> Iterator[Any]:
    for part in all_between(text, "<tool_call>\n", "\n</tool_call>"):
        try:
            yield json.loads(part)
        except (ValueError, RecursionError):
            continue


FAMILY = Family(_decode, _executable)
