"""Checks that values from a suite survive the journal, as values that cannot be read back would be lost."""

import msgspec

from console.core.ranges import Count
from console.core.record import Finished, Noted, Performed, Scored
from console.store.journal_line import as_json
from console.suites.guard import SuiteError

_Place = tuple[Count, Count]


def check_round_trip(record: Scored | Noted | Performed | Finished) -> None:
    """Check that a record with a suite's values can be decoded again.

    Raises:
        SuiteError: not JSON, of another type, or with a number out of range (see `core.ranges`).
    """
    try:
        msgspec.json.decode(as_json(record), type=type(record))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _unreadable(f"a {type(record).__name__.lower()} record", error) from error


def check_place(turn: int, step: int) -> None:
    """Check turn and step of a call before it is made.

    Raises:
        SuiteError: not numbers that can be stored.
    """
    try:
        msgspec.convert((turn, step), _Place)
    except msgspec.ValidationError as error:
        raise _unreadable("turn and step of a call", error) from error


def _unreadable(source: str, error: Exception) -> SuiteError:
    return SuiteError(
        f"{source} of the suite could not be read back: {error}",
        hint="Values must be JSON of the types in `console.core.record`, and scores finite numbers up to 1e15.",
    )
