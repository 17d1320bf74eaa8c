"""The known names nearest to a mistyped one, for error messages."""

import difflib
from collections.abc import Iterable

_NEAR = 0.6
"""Minimum similarity, from 0 to 1; suggestions below it would mislead."""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of `names`, or None if none is close."""
    return next(iter(nearest_names(name, names, 1)), None)


def suggest(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return `Did you mean …?` with the most similar of `names`, or another hint if none is close."""
    close = nearest(name, names)
    return f"Did you mean {close}?" if close else otherwise


def nearest_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the most similar of `names`, nearest first; empty if none is close."""
    originals: dict[str, str] = {}
    for other in names:
        originals.setdefault(other.lower(), other)
    return [originals[match] for match in difflib.get_close_matches(name.lower(), originals, n=most, cutoff=_NEAR)]
