"""Calls as JSON behind the first `<tool_call>`, perhaps in a fence; without the tag there is nothing to read."""

import re
from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import listed, named_call_texts, named_calls, read_json
from console.benchmarks.bfcl.models.decode.prompted import text_of

_TAG = re.compile(r"</?tool_call>")
_FENCE = "```"


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return named_calls(_items(output))


def _executable(step: Any) -> list[str]:
    return named_call_texts(_items(step))


def _items(output: Any) -> Any:
    _, tag, rest = text_of(output).partition("<tool_call>")
    if not tag:
        raise ValueError("no <tool_call> tag")
    return listed(read_json(_without_fence(_TAG.split(rest, maxsplit=1)[0].strip())))


def _without_fence(text: str) -> str:
    if not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    return text.removeprefix(_FENCE).removesuffix(_FENCE).strip().removeprefix("json")


FAMILY = Family(_decode, _executable)
