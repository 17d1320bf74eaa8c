"""Native calls as a list of objects `{name: {…}}`, arguments as JSON text among them in what is executed."""

from typing import Any, cast

from console.benchmarks.bfcl.models.decode.families.fc_json import executable_native
from console.benchmarks.bfcl.models.decode.family import Family, Form


def _decode(output: Any, form: Form) -> list[Any]:
    del form
    return _list(output)


def _executable(step: Any) -> list[str]:
    return executable_native(_list(step))


def _list(output: Any) -> list[Any]:
    if not isinstance(output, list):
        raise TypeError(f"a list of calls was expected, not {type(output).__name__}")
    return cast(list[Any], output)


FAMILY = Family(_decode, _executable)
