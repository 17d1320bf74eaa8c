"""The gate to a run's journal: records that pass can be read back unchanged, and contain no secret of the run.

Values of suite code that do not survive JSON (NaN, non-string keys, dates) are refused, since a verdict on them could
not be reproduced from the journal. Tuples become lists, and lone surrogates become U+FFFD. Secrets are searched for in
the finished record, and so are found even if a suite decoded them from an escaped form.
"""

from typing import Any, TypeVar

import msgspec

from console.config.redaction import Redactor
from console.core.live import Began
from console.core.outcome import Outcome
from console.core.ranges import Count
from console.core.ready_type import ready_type
from console.core.record import AnyRecord, Finished, Noted, Performed, Scored, Started
from console.store.journal_line import as_json, check_round_trip
from console.suites.guard import SuiteError

RecordT = TypeVar("RecordT", bound=AnyRecord | Began)
_OF_SUITES = Scored | Noted | Performed | Finished
_Place = tuple[Count, Count]
_HINT = "Values must be JSON of the types in `console.core.record`, and numbers finite; scores reach up to 1e15."


class JournalDoor:
    """Admits the records of one run."""

    def __init__(self, redactor: Redactor) -> None:
        """Store the redactor of all secrets of the run's models."""
        self._redact = redactor
        self._admitted: object = None

    def admit(self, record: RecordT) -> RecordT:
        """Return the record as it will be read back from the journal.

        Raises:
            SuiteError: a suite's value would not survive the journal.
        """
        if record is self._admitted:  # callers that need the admitted record admit it before writing it
            return record
        data = _checked(record)
        if self._redact.may_be_in(data):
            plain = msgspec.json.decode(data)
            if (redacted := self._redact.known_value(plain)) != plain:
                record = _same_identity(msgspec.convert(redacted, ready_type(type(record))), record)
        if isinstance(record, Finished) and record.verdict.outcome is Outcome.BROKEN:
            record = self._without_likely_keys(record)
        self._admitted = record
        return record

    def text(self, text: str) -> str:
        """Return an error text without secrets, and without strings that look like secrets."""
        return self._redact(text)

    def _without_likely_keys(self, record: Finished) -> Finished:
        """Redact strings that look like keys in error texts, which are not written by models."""
        messages = tuple(map(self.text, record.verdict.messages))
        if messages == record.verdict.messages:
            return record
        return msgspec.structs.replace(record, verdict=msgspec.structs.replace(record.verdict, messages=messages))


def check_data(data: dict[str, Any]) -> None:
    """Check the data of a case before it is played.

    Raises: SuiteError: they would not survive the journal.
    """
    try:
        check_round_trip(data, dict[str, Any])
    except ValueError as error:
        raise _unreadable("the data of the case", str(error)) from error


def check_request(turn: int, step: int, parts: list[Any]) -> None:
    """Check a call's place and the new parts of its request before it is made.

    Raises:
        SuiteError: the numbers cannot be stored, or a value would not survive the journal.
    """
    try:
        msgspec.convert((turn, step), ready_type(_Place))
    except msgspec.ValidationError as error:
        raise _unreadable("turn and step of a call", str(error)) from error
    try:
        check_round_trip(parts, list[Any])
    except ValueError as error:
        raise _unreadable("a request", str(error)) from error


def _checked(record: AnyRecord | Began) -> bytes:
    """Return a record as JSON.

    Raises:
        SuiteError: a suite's value would not survive the journal.
    """
    if not isinstance(record, _OF_SUITES):
        return as_json(record)
    try:
        return check_round_trip(record, type(record))
    except ValueError as error:
        raise _unreadable(f"a {type(record).__name__.lower()} record", str(error)) from error


def _same_identity(record: RecordT, given: RecordT) -> RecordT:
    """Return a record with its original ids and names, which are kept even if they look like secrets."""
    if isinstance(record, Started) and isinstance(given, Started):
        names = {name: getattr(given.case, name) for name in ("id", "category", "cluster", "depends_on")}
        record = msgspec.structs.replace(record, case=msgspec.structs.replace(record.case, **names))
    key = getattr(given, "key", None)
    return record if key is None else msgspec.structs.replace(record, key=key)


def _unreadable(source: str, why: str) -> SuiteError:
    return SuiteError(f"{source} of the suite could not be read back: {why}", hint=_HINT)
