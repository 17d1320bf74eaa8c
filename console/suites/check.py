"""Offline verdicts for saved outputs: `check SUITE`, one JSON line in, one out, in order.

Uses the very rules of scoring; no network, no key, no model. Only the suite's own code is imported. A line that cannot
be judged is answered with its number and why; the others go on.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import cast

from console.config.paths import DataRoots
from console.core.fault import Fault, UsageError
from console.core.json_text import read_json
from console.suites.catalog import Catalog
from console.suites.line_checks import OutputChecker
from console.suites.suite import ChecksLines, ChecksMoreLines, LineChecker, Row

Line = str | UsageError
"""A line, or why it could not be read."""
NumberedLine = tuple[int, Line]
_NAMES = ("case", "id")
"""What names a row in its answer."""


class LineCheck:
    """Judges lines by the rules of a suite while it is iterated over; blank lines are passed over."""

    def __init__(self, suite: str, lines: Iterable[Line], roots: DataRoots, ahead: int) -> None:
        self._suite, self._lines, self._roots, self._ahead = suite, lines, roots, ahead
        self.errors = 0
        """Lines so far that could not be judged."""

    def __iter__(self) -> Iterator[Row]:
        with _open_checker(self._suite, self._roots) as checker:
            numbered = ((number, line) for number, line in enumerate(self._lines, 1) if not _is_blank(line))
            while batch := list(islice(numbered, self._ahead)):
                yield from self._answers(checker, batch)

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
    """Judge each line by the rules of a suite; the answers are made as they are iterated over.

    Args:
        suite: the name of a dataset, or of a format that needs none.
        lines: JSON objects, one a line, in the form of the suite; else with the `id` of a case and its `output`. What
            stands in place of a line that could not be read is its answer.
        roots: where datasets are.
        ahead: how many lines may be read before the first of them is answered; 1 where someone waits for each answer.

    Raises:
        UsageError: no such suite, or data that was not pulled; raised by the first iteration.
    """
    return LineCheck(suite, lines, roots, ahead)


def _open_checker(name: str, roots: DataRoots) -> AbstractContextManager[LineChecker]:
    catalog = Catalog(roots)
    if not any(entry.name == name for entry in catalog.entries()):
        suite = catalog.open_format(name)
        if isinstance(suite, ChecksLines) and suite.checks_without_data():
            return suite.line_checker()
        kinds = _line_kinds(catalog, name)
        if kinds is not None:
            return kinds()
    suite = catalog.open(name)
    return suite.line_checker() if isinstance(suite, ChecksLines) else OutputChecker(suite)


def _line_kinds(catalog: Catalog, name: str) -> Callable[[], AbstractContextManager[LineChecker]] | None:
    """Return what opens the checker of `NAME-KIND`; None where no such suite offers the kind."""
    for entry in catalog.entries():
        kind = name.removeprefix(f"{entry.name}-")
        if kind != name:
            suite = catalog.open(entry.name)
            if isinstance(suite, ChecksMoreLines) and kind in suite.line_kinds():
                return suite.line_kinds()[kind]
    return None


def _is_blank(line: Line) -> bool:
    return isinstance(line, str) and not line.strip()


def _parse(line: Line) -> Row | UsageError:
    if isinstance(line, UsageError):
        return line
    try:
        row = read_json(line)
    except ValueError as error:
        return UsageError(f"not JSON: {error}")
    if not isinstance(row, dict):
        return UsageError("must be a JSON object")
    fields = cast(Row, row)
    bad_name = next((name for name in _NAMES if isinstance(fields.get(name), dict | list)), None)
    return UsageError(f"`{bad_name}` must be a text or a number") if bad_name else fields


def _check_rows(checker: LineChecker, rows: Sequence[Row]) -> Sequence[Row | UsageError]:
    """Judge rows together; where the suite's code fails over one of them, each by itself, so that only that is lost."""
    try:
        return checker.check(rows)
    except (UsageError, Fault) as error:
        if len(rows) == 1:
            return [error if isinstance(error, UsageError) else UsageError(error.message, hint=error.hint)]
    except Exception as error:  # a suite's code may fail in any way
        if len(rows) == 1:
            return [UsageError(f"the suite's code failed: {type(error).__name__}: {error}")]
    return [answer for row in rows for answer in _check_rows(checker, [row])]


def _error_row(number: int, row: Row | UsageError, error: UsageError) -> Row:
    """Return the answer to a line that cannot be judged."""
    names = {} if isinstance(row, UsageError) else {key: row[key] for key in _NAMES if key in row}
    place = f"line {number}, {error.where}" if error.where else f"line {number}"
    text = f"{place}: {error.message}" + (f". {error.hint}" if error.hint else "")
    return {**names, "line": number, "error": text}
