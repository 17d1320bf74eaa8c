"""Calls as `{"name": …, "arguments": {…}}`; what is executed forgives: items that are no objects, and missing keys."""

from collections.abc import Iterable
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.call_text import Call, call_text
from console.benchmarks.bfcl.models.decode.family import Family, Form
from console.benchmarks.bfcl.models.decode.named_calls import named_calls


def _decode(output: Any, form: Form) -> list[Call]:
    del form
    return named_calls(output)


def executable_named(items: Iterable[Any]) -> list[str]:
    """Return the call texts of what can be gone through; without a name it is empty, without arguments there are none.

    Raises:
        Exception: of any kind: nothing that can be gone through, or arguments that are no object.
    """
    objects = (cast(dict[str, Any], item) for item in items if isinstance(item, dict))
    return [call_text(item.get("name", ""), item.get("arguments", {}), ", ") for item in objects]


FAMILY = Family(_decode, executable_named)
