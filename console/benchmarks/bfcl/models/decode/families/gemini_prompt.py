"""Prompted calls, perhaps in fences marked `tool_code`, which are deleted wherever they stand."""

from typing import Any

from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.prompted import decode_prompted, executable_prompted, text_of


def _decode(output: Any, form: Form) -> Any:
    return decode_prompted(_without_fences(output), form)


def _executable(step: Any) -> list[str]:
    return executable_prompted(_without_fences(step))


def _without_fences(output: Any) -> str:
    return text_of(output).replace("```tool_code\n", "").replace("\n```", "")


FAMILY = Family(_decode, _executable)
