"""The nearest known name to a mistyped one, for error messages."""

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that is most like `name`, or None when nothing is close."""
    matches = difflib.get_close_matches(name.lower(), {other.lower() for other in names}, n=1, cutoff=0.5)
    return next((other for other in names if other.lower() == matches[0]), None) if matches else None
