"""Calls as JSON objects, each behind `<function_call>`; what is no JSON stays as text, and is even executed as such."""

import json
from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call, call_texts
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.prompted import text_of

_NONE = "No function is called"
"""What a call of `no_function` becomes."""


def _decode(output: Any, form: Form) -> list[Call | str]:
    del form
    return _pieces(output)


def _executable(step: Any) -> list[str]:
    texts: list[str] = []
    for piece in _pieces(step):
        texts += [piece] if isinstance(piece, str) else call_texts([piece])
    return texts


def _pieces(output: Any) -> list[Call | str]:
    parts = (part.strip() for part in text_of(output).split("<function_call>"))
    return [_piece(part) for part in parts if part]


def _piece(text: str) -> Call | str:
    try:
        call = json.loads(text)
    except ValueError:
        return text
    name = call.get("name", "").strip()
    return _NONE if name == "no_function" else {name: call.get("arguments", {})}


FAMILY = Family(_decode, _executable)
