"""Prompted calls, perhaps behind the opening of a fence; before executing, blanks in front of it hide it."""

from typing import Any

from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.prompted import decode_prompted, executable_prompted, text_of


def _decode(output: Any, form: Form) -> Any:
    return decode_prompted(_without_opening(text_of(output).strip()), form)


def _executable(step: Any) -> list[str]:
    return executable_prompted(_without_opening(text_of(step)))


def _without_opening(text: str) -> str:
    return text.removeprefix("```json").removeprefix("```python")


FAMILY = Family(_decode, _executable)
