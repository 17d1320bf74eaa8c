"""Ranges of numbers in files: what lies outside was not written by this program, and breaks what computes with it."""

from typing import Annotated

import msgspec

Moment = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
"""Seconds since 1970 (UTC), up to the end of the year 9999, which is where calendars end."""
Duration = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
"""Seconds; a clock that was set may have made one negative."""
Count = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A number of things, or the place of one; as far as a float counts exactly."""
_LARGEST_AMOUNT = 1e15
Amount = Annotated[float, msgspec.Meta(ge=-_LARGEST_AMOUNT, le=_LARGEST_AMOUNT)]
"""Money, or a score."""


def is_amount(value: float) -> bool:
    """Whether a number can be kept as an `Amount`; NaN cannot."""
    return -_LARGEST_AMOUNT <= value <= _LARGEST_AMOUNT
