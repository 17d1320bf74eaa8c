"""Filtering of lists by words, and the order of the matches."""

import re
from typing import NamedTuple

_WORD_START = re.compile(r"[^\w.]+")
"""Characters between words."""


class FilterInForce(NamedTuple):
    """A list's active filter and the number of rows it leaves."""

    words: str
    shown: int
    """Number of matching rows."""
    total: int
    """Number of all rows."""


def has_words(words: str, *texts: str) -> bool:
    """Return whether the texts together contain every word, ignoring case."""
    text = " ".join(texts).casefold()
    return all(word in text for word in words.casefold().split())


def match_rank(words: str, name: str, *texts: str) -> int | None:
    """Return how well a row matches typed words, 0 for the best, or None if it lacks one of them.

    The name itself is first, then a name that begins with them, then rows in which each begins a word, then those that
    contain them.
    """
    typed = words.casefold().split()
    text = " ".join((name, *texts)).casefold()
    if not all(word in text for word in typed):
        return None
    start = words.casefold().strip()
    if name.casefold().startswith(start):
        return 0 if name.casefold() == start else 1
    begun = _WORD_START.sub(" ", f" {text}")
    return 2 if all(f" {word}" in begun for word in typed) else 3
