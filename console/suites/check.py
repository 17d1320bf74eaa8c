"""Offline verdicts for saved outputs: `check SUITE`, one JSON line in, one out, in order.

Applies the scoring rules of the suite; needs no network, key or model. Only the suite's own code is imported. A line
that cannot be judged is answered with its number and the error; the other lines are unaffected.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import cast

from console.config.paths import DataRoots
from console.core.fault import Fault, UsageError, reason_of
from console.core.json_text import read_json
from console.suites.catalog import Catalog
from console.suites.line_checks import OutputChecker
from console.suites.suite import LineChecker, Row

Line = str | UsageError
"""A line, or the error from reading it."""
NumberedLine = tuple[int, Line]
_MOST_CHARACTERS = 32_000_000
"""Number of characters at which a batch is judged."""
_NAMES = ("case", "id")
"""Keys copied from a row to its error."""


class LineCheck:
    """Iterable that judges lines by the rules of a suite; skips blank lines."""

    def __init__(self, suite: str, lines: Iterable[Line], roots: DataRoots, ahead: int) -> None:
        self._suite, self._lines, self._roots, self._ahead = suite, lines, roots, ahead
        self.errors = 0
        """Lines that could not be judged so far."""

    def __iter__(self) -> Iterator[Row]:
        with _open_checker(self._suite, self._roots) as checker:
            numbered = ((number, line) for number, line in enumerate(self._lines, 1) if not _is_blank(line))
            for batch in self._batches(numbered):
                yield from self._answers(checker, batch)

    def _batches(self, numbered: Iterable[NumberedLine]) -> Iterator[list[NumberedLine]]:
        batch, size = list[NumberedLine](), 0
        for number, line in numbered:
            batch.append((number, line))
            size += len(line) if isinstance(line, str) else 0
            if len(batch) == self._ahead or size > _MOST_CHARACTERS:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _answers(self, checker: LineChecker, batch: Sequence[NumberedLine]) -> Iterator[Row]:
        parsed = [_parse(line) for _, line in batch]
        rows = [row for row in parsed if not isinstance(row, UsageError)]
        answers = iter(_check_rows(checker, rows))
        for (number, _), row in zip(batch, parsed, strict=True):
            answer = row if isinstance(row, UsageError) else next(answers)
            if isinstance(answer, UsageError):
                self.errors += 1
                answer = _error_row(number, row, answer)
            yield answer


def check(suite: str, lines: Iterable[Line], roots: DataRoots, *, ahead: int = 1) -> LineCheck:
    """Judge each line by the rules of a suite, lazily.

    Args:
        suite: name of a dataset or of a format that needs no dataset, or NAME-KIND (see `Suite.line_kinds`).
        lines: JSON objects in the suite's own format, or with the `id` of a case and its `output`. An error is passed
            on as the answer to its line.
        roots: folders with datasets.
        ahead: lines read per batch; 1 if the caller waits for each answer.

    Raises:
        UsageError: no such suite, or data that was not pulled; raised by the first iteration.
    """
    return LineCheck(suite, lines, roots, ahead)


def _open_checker(name: str, roots: DataRoots) -> AbstractContextManager[LineChecker]:
    catalog = Catalog(roots)
    if not any(entry.name == name for entry in catalog.entries()):
        suite = catalog.open_format(name)
        if suite is not None and suite.checks_without_data():
            return suite.line_checker() or OutputChecker(suite)
        open_kind = _find_line_kind(catalog, name)
        if open_kind is not None:
            return open_kind()
    suite = catalog.open(name)
    return suite.line_checker() or OutputChecker(suite)


def _find_line_kind(catalog: Catalog, name: str) -> Callable[[], AbstractContextManager[LineChecker]] | None:
    """Return the factory of the checker for `NAME-KIND`, or None if no suite offers that kind."""
    for entry in catalog.entries():
        kind = name.removeprefix(f"{entry.name}-")
        if kind != name:
            kinds = catalog.open(entry.name).line_kinds()
            if kind in kinds:
                return kinds[kind]
    return None


def _is_blank(line: Line) -> bool:
    return isinstance(line, str) and not line.strip()


def _parse(line: Line) -> Row | UsageError:
    if isinstance(line, UsageError):
        return line
    try:
        row = read_json(line)
    except ValueError as error:
        return UsageError(f"not JSON: {reason_of(error)}")
    if not isinstance(row, dict):
        return UsageError("must be a JSON object")
    fields = cast(Row, row)
    bad_name = next((name for name in _NAMES if not _is_name(fields.get(name))), None)
    return UsageError(f"`{bad_name}` must be a string or a number") if bad_name else fields


def _is_name(value: object) -> bool:
    """Return whether a value can be echoed: JSON has no NaN."""
    return math.isfinite(value) if isinstance(value, float) else not isinstance(value, dict | list)


def _check_rows(checker: LineChecker, rows: Sequence[Row]) -> Sequence[Row | UsageError]:
    """Judge rows as one batch; if that fails, judge each row alone, so that one bad row does not fail the others."""
    try:
        return checker.check(rows)
    except (UsageError, Fault) as error:
        if len(rows) == 1:
            return [error if isinstance(error, UsageError) else UsageError(error.message, hint=error.hint)]
    except Exception as error:  # arbitrary suite code
        if len(rows) == 1:
            return [UsageError(f"the suite's code failed: {type(error).__name__}: {error}")]
    return [answer for row in rows for answer in _check_rows(checker, [row])]


def _error_row(number: int, row: Row | UsageError, error: UsageError) -> Row:
    names = {} if isinstance(row, UsageError) else {key: row[key] for key in _NAMES if key in row}
    place = f"line {number}, {error.where}" if error.where else f"line {number}"
    text = f"{place}: {error.message}" + (f". {error.hint}" if error.hint else "")
    return {**names, "line": number, "error": text}
