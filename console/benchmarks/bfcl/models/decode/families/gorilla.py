"""Calls without brackets around them. Nothing is ever executed: the official decoder fails over its own parameters."""

from typing import Any

from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.prompted import decode_bracketed, text_of


def _decode(output: Any, form: Form) -> Any:
    return decode_bracketed(f"[{text_of(output)}]", form)


def _executable(step: Any) -> list[str]:
    raise TypeError(f"no step of this family is ever executed, be it {type(step).__name__}")


FAMILY = Family(_decode, _executable)
