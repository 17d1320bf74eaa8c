"""The format of all JSON for other programs: `{"schema": 2, "kind": …, …}`."""

from collections.abc import Mapping
from typing import Any, NamedTuple

SCHEMA = 2
"""Version of the format, incremented with every change that readers must know. 1 had no kind, and lists had no name."""


class JsonKind(NamedTuple):
    """A kind of object, declared as a constant of the module that writes it; docs/json.md lists all of them."""

    name: str
    written_by: str
    """Command lines that write it."""
    meaning: str
    fields: Mapping[str, str]
    """Meaning of each field except `schema` and `kind`; those not always present begin with `optional`."""
    is_stream: bool = False
    """True if a command may write several of them, one per line."""

    def as_object(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return fields in the format of their kind; the tests reject undeclared fields."""
        return {"schema": SCHEMA, "kind": self.name, **fields}
