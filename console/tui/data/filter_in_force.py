"""Words that narrow a list: what has them, and `FilterInForce`, what a screen says of them."""

from typing import NamedTuple


class FilterInForce(NamedTuple):
    """Words that narrow a list."""

    words: str
    shown: int
    """Rows that have them."""
    total: int
    """Rows there would be without them."""


def has_words(words: str, *texts: str) -> bool:
    """Whether some texts, taken together, have every word; capitals do not matter."""
    text = " ".join(texts).casefold()
    return all(word in text for word in words.casefold().split())
