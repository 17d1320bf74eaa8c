"""Holds every JSON object that is made in a test to the fields that its kind lists; users get it either way."""

from collections.abc import Mapping
from typing import Any

from console.exchange.json_kind import JsonKind

_as_object = JsonKind.as_object


def _checked(self: JsonKind, fields: Mapping[str, Any]) -> dict[str, Any]:
    unlisted = sorted(fields.keys() - self.fields.keys())
    assert not unlisted, (
        f"the JSON kind {self.name!r} does not list {', '.join(unlisted)}: add the meaning to "
        f"`{self.name.upper()} = JsonKind(…)`, then run docs/make_json_page.py"
    )
    return _as_object(self, fields)


def install() -> None:
    """Check every object from now on."""
    JsonKind.as_object = _checked
