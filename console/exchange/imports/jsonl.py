"""JSON Lines logs, read line by line."""

from collections.abc import Callable, Iterator
from pathlib import Path

from console.core.json_text import read_json
from console.exchange.imports.json_stream import json_lines
from console.exchange.imports.log import LogHead, LogSample, Problem, Table, table


def line_tables(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Table]]:
    """Yield the objects of a file with their line numbers; other lines become problems.

    Raises:
        UsageError: the file cannot be read.
    """
    for number, line in json_lines(path):
        try:
            if line is None:
                raise ValueError("is too large")
            record = table(read_json(line))
            if not record:
                raise ValueError("is not a JSON object, or is empty")
        except ValueError as error:
            problems.append(Problem(f"line {number}", str(error)))
        else:
            yield number, record


class LinesLog:
    """An evaluation stored as lines of a file."""

    def __init__(self, path: Path, head: LogHead, samples_of: Callable[[Table, int], Iterator[LogSample]]) -> None:
        """Initialize; `samples_of` converts a line's object and number to samples and may raise ValueError."""
        self.head = head
        self.problems: list[Problem] = []
        self._path = path
        self._samples_of = samples_of

    def samples(self) -> Iterator[LogSample]:
        for number, record in line_tables(self._path, self.problems):
            try:
                yield from self._samples_of(record, number)
            except ValueError as error:
                self.problems.append(Problem(f"line {number}", str(error)))


def first_line(head: bytes) -> Table:
    """Return the object on the first line of a file, given its first bytes; an empty one if unreadable."""
    line, end, _ = head.lstrip().partition(b"\n")
    try:
        return table(read_json(line)) if end or line.rstrip().endswith(b"}") else {}
    except ValueError:
        return {}
