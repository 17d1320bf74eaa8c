"""What a suite hands over is refused unless it can be read again: what a journal does not give back is lost."""

import msgspec

from console.core.ranges import Count
from console.core.record import Finished, Noted, Performed, Scored
from console.store.journal_line import as_json
from console.suites.guard import SuiteError

_Place = tuple[Count, Count]


def check_round_trip(record: Scored | Noted | Performed | Finished) -> None:
    """Check a record with values of a suite as the journal's readers will.

    Raises:
        SuiteError: it is no JSON, of another type, or holds a number outside of its range (see `core.ranges`).
    """
    try:
        msgspec.json.decode(as_json(record), type=type(record))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _unreadable(f"a {type(record).__name__.lower()} record", error) from error


def check_place(turn: int, step: int) -> None:
    """Check turn and step of a call before it is made.

    Raises:
        SuiteError: they are no numbers that can be kept.
    """
    try:
        msgspec.convert((turn, step), _Place)
    except msgspec.ValidationError as error:
        raise _unreadable("turn and step of a call", error) from error


def _unreadable(source: str, error: Exception) -> SuiteError:
    return SuiteError(
        f"{source} of the suite could not be read again: {error}",
        hint="Values are JSON of the types that `console.core.record` names, scores finite numbers up to 1e15.",
    )
