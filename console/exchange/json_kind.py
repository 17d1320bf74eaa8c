"""The one shape of all JSON that is written for other programs: `{"schema": 2, "kind": …, …}`."""

from collections.abc import Mapping
from typing import Any, NamedTuple

SCHEMA = 2
"""Version of the shape; grows with every change that readers must know of. 1 had no kind, and lists without a name."""


class JsonKind(NamedTuple):
    """One kind of object, declared as a constant of the module that writes it; docs/json.md lists all of them."""

    name: str
    written_by: str
    """The command lines that write it."""
    meaning: str
    fields: Mapping[str, str]
    """Meaning of each field but `schema` and `kind`. Those that are not always there say so with `optional`."""
    is_stream: bool = False
    """Whether a command may write several of them, one a line."""

    def as_object(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return fields in the shape of their kind; the tests refuse a field that the kind does not list."""
        return {"schema": SCHEMA, "kind": self.name, **fields}
