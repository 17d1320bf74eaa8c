"""`FilterInForce`: what a screen says of the words that narrow one of its lists."""

from typing import NamedTuple


class FilterInForce(NamedTuple):
    """Words that narrow a list."""

    words: str
    shown: int
    """Rows that have them."""
    total: int
    """Rows there would be without them."""
