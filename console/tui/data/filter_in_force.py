"""Filtering of lists by words."""

from typing import NamedTuple


class FilterInForce(NamedTuple):
    """A list's active filter and its effect."""

    words: str
    shown: int
    """Number of matching rows."""
    total: int
    """Number of all rows."""


def has_words(words: str, *texts: str) -> bool:
    """Return whether the texts together contain every word, ignoring case."""
    text = " ".join(texts).casefold()
    return all(word in text for word in words.casefold().split())
