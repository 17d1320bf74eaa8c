"""Ranges of numbers in files; values outside were not written by this program and would break calculations."""

from typing import Annotated

import msgspec

Moment = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
"""Seconds since 1970 (UTC), up to the end of the year 9999, where calendars end."""
Duration = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
"""Seconds; may be negative after the clock was set."""
LARGEST_COUNT = 2**53
Count = Annotated[int, msgspec.Meta(ge=-LARGEST_COUNT, le=LARGEST_COUNT)]
"""A count or an index, within the range of exact integers in a float."""
_LARGEST_AMOUNT = 1e15
Amount = Annotated[float, msgspec.Meta(ge=-_LARGEST_AMOUNT, le=_LARGEST_AMOUNT)]
"""An amount of money, or a score; limited to magnitudes that calculations can handle."""


def is_amount(value: float) -> bool:
    """Return whether a number can be stored as an `Amount`; NaN cannot."""
    return -_LARGEST_AMOUNT <= value <= _LARGEST_AMOUNT
