"""As `dictlist`, but a list that holds anything else than objects is refused."""

from typing import Any, cast

from console.benchmarks.bfcl.models.decode.families.fc_json import executable_native
from console.benchmarks.bfcl.models.decode.family import Family, Form


def _decode(output: Any, form: Form) -> list[Any]:
    del form
    return objects_only(output)


def _executable(step: Any) -> list[str]:
    return executable_native(objects_only(step))


def objects_only(output: Any) -> list[Any]:
    """Return an answer that is a list of objects.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in cast(list[Any], output)):
        raise TypeError("a list of objects was expected")
    return cast(list[Any], output)


FAMILY = Family(_decode, _executable)
