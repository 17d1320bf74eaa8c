"""The nearest known name to a mistyped one, for error messages."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None when nothing is close."""
    found = difflib.get_close_matches(name.lower(), {item.lower(): item for item in known}, n=1, cutoff=0.5)
    return next((item for item in known if item.lower() == found[0]), None) if found else None
