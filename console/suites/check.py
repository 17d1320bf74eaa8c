"""Offline verdicts for saved outputs: `check SUITE`, one JSON line in, one out, in order.

Uses the very rules of scoring; no network, no key, no model. Only the suite's own code is imported.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any, Protocol, TypeVar, cast

from console.core.fault import UsageError
from console.suites.catalog import Catalog, Roots

Row = dict[str, Any]
Line = tuple[int, str]
"""Number and text."""
Read = TypeVar("Read")
_WITHOUT_DATA = ("aidanbench", "cavebench")
"""Formats whose lines carry all that is needed."""


def check(suite: str, lines: Iterable[str], roots: Roots, *, ahead: int = 1) -> Iterator[Row]:
    """Judge each line by the rules of a suite; blank lines are passed over.

    Args:
        suite: the name of a dataset, or of a format that needs none.
        lines: JSON objects, one a line, in the form of the suite.
        roots: where datasets are.
        ahead: how many lines may be read before the first of them is answered; 1 where someone waits for each answer.

    Raises:
        UsageError: no such suite, data that was not pulled, or a damaged line (named by its number).
    """
    with ExitStack() as open_things:
        judge = _judge(suite, roots, open_things)
        numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        while some := list(islice(numbered, ahead)):
            yield from judge(some)


class Batch(Protocol):
    """What judges numbered lines, in order; answers to those before a damaged line are given first."""

    def __call__(self, lines: Sequence[Line]) -> Iterator[Row]:
        """Yield one answer a line."""
        ...


def _one_by_one(judge: Callable[[Row], Row]) -> Batch:
    def judged(lines: Sequence[Line]) -> Iterator[Row]:
        for number, line in lines:
            with _placed(number):
                yield judge(_row(line))

    return judged


def _together(read: Callable[[Row], Read], judge: Callable[[Sequence[Read]], list[Row]]) -> Batch:
    def judged(lines: Sequence[Line]) -> Iterator[Row]:
        known: list[Read] = []
        damage: UsageError | None = None
        for number, line in lines:
            try:
                with _placed(number):
                    known.append(read(_row(line)))
            except UsageError as error:
                damage = error
                break
        yield from judge(known)
        if damage is not None:
            raise damage

    return judged


def _row(line: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise UsageError("must be a JSON object")
    return cast(Row, row)


@contextmanager
def _placed(number: int) -> Generator[None]:
    """Name the line in what is refused."""
    try:
        yield
    except UsageError as error:
        place = f"line {number}, {error.where}" if error.where else f"line {number}"
        raise UsageError(error.message, where=place, hint=error.hint) from error


def _judge(suite: str, roots: Roots, open_things: ExitStack) -> Batch:
    catalog = Catalog(roots)
    entry = next((entry for entry in catalog.entries() if entry.name == suite), None)
    form = entry.format if entry else suite
    if form == "bfcl" and entry is not None:
        from console.suites.bfcl.conformance import LineChecker as BfclChecker

        checker = open_things.enter_context(BfclChecker(entry.folder))
        return _together(checker.read, checker.check_many)
    if form == "aidanbench":
        from console.suites.aidanbench.conformance import check_line

        return _one_by_one(check_line)
    if form == "cavebench":
        from console.suites.cavebench.conformance import LineChecker

        return _one_by_one(LineChecker().check)
    catalog.open(suite)
    raise UsageError(f"outputs of the format {form!r} cannot be checked by lines", where=suite)
