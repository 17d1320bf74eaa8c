"""Ranges of numbers in files: what lies outside was not written by this program, and breaks what computes with it."""

from typing import Annotated

import msgspec

Moment = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
"""Seconds since 1970 (UTC), up to the end of the year 9999, which is where calendars end."""
Duration = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
"""Seconds; a clock that was set may have made one negative."""
Count = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A number of things, or the place of one; as far as a float counts exactly."""
Amount = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
"""Money, or a score."""
