"""Numbers from logs of other tools, limited to the ranges that a journal keeps; others are dropped."""

import math
from datetime import UTC, datetime

from console.core.ranges import is_amount

_LARGEST_COUNT = 2**53
_LAST_MOMENT = 253_402_300_799
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def count(value: object) -> int:
    """Return a count; 0 if invalid."""
    return int(value) if isinstance(value, int | float) and 0 <= value <= _LARGEST_COUNT else 0


def amount(value: object) -> float | None:
    """Return a number, or None if invalid or out of the journal's range."""
    if isinstance(value, bool | int | float) and is_amount(value):
        return float(value)
    return None


def seconds(value: object) -> float:
    """Return a duration in seconds; 0 if invalid."""
    number = amount(value)
    return number if number is not None and 0 <= number <= 1e12 else 0.0


def moment(value: object) -> float | None:
    """Return seconds since the epoch from seconds, milliseconds (recognized by their size) or an ISO 8601 string."""
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
            value = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    number = amount(value)
    if number is not None and number > 1e11:
        number /= 1000
    return number if number is not None and 0 <= number <= _LAST_MOMENT else None


def score_number(value: object) -> float | None:
    """Convert a score to a number: inspect_ai's letters (C, P, I, N), yes and no, numbers and numeric strings."""
    if isinstance(value, str):
        word = value.strip()
        number = _LETTERS.get(word, _WORDS.get(word.lower()))
        if number is not None:
            return number
        try:
            value = float(word)
        except ValueError:
            return None
    number = amount(value)
    return None if number is None or math.isnan(number) else number
