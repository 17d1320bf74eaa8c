"""Judge saved outputs offline: one JSON line in, one JSON line out, in order. No network, no key.

Reads a file, a .gz file, or stdin (`-`). Fields that carry an expectation are ignored. A line that cannot be judged is
answered with its number and an `error`; the others go on, and the exit code is 2 at the end.
"""

import argparse
import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.suites.check import check

_AHEAD = 400
"""Lines of a file that are judged together."""


class CheckArguments(Arguments):
    """Options of `check`."""

    suite: str
    file: str


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("suite", metavar="SUITE", help="a suite, or a format whose lines need no data")
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="JSON lines, also .gz; - is stdin")


def run(args: CheckArguments) -> int:
    """Judge every line.

    Raises:
        UsageError: the suite or its data is not there, or the file cannot be read.
    """
    ahead = 1 if args.file == "-" else _AHEAD  # who writes to a pipe may wait for each answer
    answers = check(args.suite, _lines(args.file), find_data_roots(args.data), ahead=ahead)
    args.output.many_data(answers)
    if answers.errors:
        args.output.warn(f"{answers.errors} of the lines could not be judged")
        return Exit.USAGE
    return Exit.OK


def _lines(name: str) -> Iterator[str]:
    try:
        with _open_lines(name) as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=name, hint="JSON lines in UTF-8, plain or .gz.") from None


def _open_lines(name: str) -> io.TextIOBase:
    if name == "-":
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8")
    path = Path(name)
    if path.suffix == ".gz":
        return cast(io.TextIOBase, gzip.open(path, "rt", encoding="utf-8"))
    return path.open(encoding="utf-8")
