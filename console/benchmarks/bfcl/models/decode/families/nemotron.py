"""Prompted calls between `<TOOLCALL>` tags; a text without them holds none."""

from typing import Any

from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.prompted import decode_prompted, executable_prompted, text_of
from console.benchmarks.bfcl.models.decode.tags import all_between


def _decode(output: Any, form: Form) -> Any:
    text = _tagged(output)
    return [] if text is None else decode_prompted(text, form)


def _executable(step: Any) -> list[str]:
    text = _tagged(step)
    return [] if text is None else executable_prompted(text)


def _tagged(output: Any) -> str | None:
    parts = all_between(text_of(output), "<TOOLCALL>", "</TOOLCALL>", most=1)
    return parts[0] if parts else None


FAMILY = Family(_decode, _executable)
