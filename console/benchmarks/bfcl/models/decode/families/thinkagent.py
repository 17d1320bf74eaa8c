"""Calls as JSON behind the first `</think>`, single quotes taken for double ones.

Whatever holds a call is not executed: the official decoder looks for arguments where the name is.
"""

from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import named_calls, read_json
from console.benchmarks.bfcl.models.decode.prompted import text_of


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return _calls(output)


def _executable(step: Any) -> list[str]:
    if _calls(step):
        raise TypeError("no call of this family is ever executed")
    return []


def _calls(output: Any) -> list[Call]:
    _, tag, rest = text_of(output).strip().replace("'", '"').partition("</think>")
    return named_calls(read_json(rest.strip())) if tag else []


FAMILY = Family(_decode, _executable)
