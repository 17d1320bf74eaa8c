"""The nearest known name to a mistyped one, for error messages."""

import difflib
from collections.abc import Iterable

_NEAR = 0.6
"""Least likeness, from 0 to 1: a farther name would only mislead."""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that is most like `name`, or None when nothing is close."""
    return next(iter(nearest_names(name, names, 1)), None)


def nearest_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return those of `names` that are most like `name`, the nearest first; none when nothing is close."""
    originals: dict[str, str] = {}
    for other in names:
        originals.setdefault(other.lower(), other)
    return [originals[match] for match in difflib.get_close_matches(name.lower(), originals, n=most, cutoff=_NEAR)]
