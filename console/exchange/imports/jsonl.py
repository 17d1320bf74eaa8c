"""Logs that are JSON lines: read line by line, each line a sample or none."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from console.core.json_text import read_json
from console.exchange.imports.json_stream import json_lines
from console.exchange.imports.log import LogHead, LogSample, Problem, Table, table


def line_tables(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Table]]:
    """Yield the objects of a file with their line numbers; what is none becomes a problem.

    Raises:
        UsageError: the file cannot be read.
    """
    for number, line in json_lines(path):
        try:
            if line is None:
                raise ValueError("is too large to be read")
            record = table(read_json(line))
            if not record:
                raise ValueError("is no JSON object, or an empty one")
        except ValueError as error:
            problems.append(Problem(f"line {number}", str(error)))
        else:
            yield number, record


class LinesLog:
    """One evaluation that is lines of a file."""

    def __init__(self, path: Path, head: LogHead, samples_of: Callable[[Table, int], Iterator[LogSample]]) -> None:
        """Take what a line comes to: `samples_of` is given its object and its number, and may raise ValueError."""
        self.head = head
        self.problems: list[Problem] = []
        self._path = path
        self._samples_of = samples_of

    def samples(self, skip: int = 0) -> Iterator[LogSample]:
        """Yield the samples of every line."""
        return islice(self._all_samples(), skip, None)

    def _all_samples(self) -> Iterator[LogSample]:
        for number, record in line_tables(self._path, self.problems):
            try:
                yield from self._samples_of(record, number)
            except ValueError as error:
                self.problems.append(Problem(f"line {number}", str(error)))


def first_line(head: bytes) -> Table:
    """Return the object on the first line of a file, from its first bytes; an empty one when it cannot be read."""
    line, end, _ = head.lstrip().partition(b"\n")
    try:
        return table(read_json(line)) if end or line.rstrip().endswith(b"}") else {}
    except ValueError:
        return {}
