"""Grade saved outputs offline: one JSON line in, one JSON line out, in order. No network, no key.

The format of answers depends on that of the lines; with --json each is the `answer` of an object of kind
`checked_line`.

Reads a file, a .gz file, or stdin (`-`). Fields with expectations are ignored. A line that cannot be graded is answered
with its number and an `error`; the others are still graded, and the exit code is 2 at the end.
"""

import argparse
import errno
import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_data_roots
from console.core.fault import UsageError, reason_of
from console.exchange.json_kind import JsonKind
from console.suites.check import check

CHECKED_LINE = JsonKind(
    "checked_line",
    "check --json",
    "The answer to one line of input. Without --json, `check` writes the bare answer, in the format of its suite.",
    {"answer": "verdict fields of the suite, or `line` and `error`"},
    is_stream=True,
)

_AHEAD = 400
"""Number of lines of a file graded together."""
_LONGEST = 16_000_000
"""Maximum number of bytes in a line; 600 times the longest of the conformance cases."""
_MOST_SKIPPED = 4 * _LONGEST
"""Maximum number of bytes skipped in a longer line to reach the next one."""
_FORMS = "JSON lines in UTF-8, plain or .gz."


class CheckArguments(Arguments):
    suite: str
    file: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="a suite, or a format whose lines need no data")
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="JSON lines, also .gz; - is stdin")


def run(args: CheckArguments) -> int:
    """Grade every line."""
    ahead = 1 if args.file == "-" else _AHEAD  # the writer of a pipe may wait for each answer
    answers = check(args.suite, _lines(args.file), find_data_roots(args.data), ahead=ahead)
    if args.json:
        args.output.many_data(CHECKED_LINE, ({"answer": answer} for answer in answers))
    else:
        args.output.lines(answers)
    if answers.errors:
        args.output.warn(f"{answers.errors} of the lines could not be graded")
        return Exit.USAGE
    return Exit.OK


def _lines(name: str) -> Iterator[str | UsageError]:
    """Yield the lines of a file; undecodable lines, and the point where reading fails, are yielded as errors."""
    if name == "-":
        yield from _lines_of(sys.stdin.buffer, name)
        return
    try:
        opened = Path(name).open("rb")  # noqa: SIM115 - closed below
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=name, hint=_FORMS) from None
    with opened as file:
        if not (stat.S_ISREG(mode := os.fstat(file.fileno()).st_mode) or stat.S_ISFIFO(mode) or file.isatty()):
            raise UsageError("cannot be read: it is neither a file nor a pipe", where=name, hint=_FORMS)
        yield from _lines_of(cast(BinaryIO, gzip.GzipFile(fileobj=file)) if name.endswith(".gz") else file, name)


def _lines_of(file: BinaryIO, name: str) -> Iterator[str | UsageError]:
    try:
        while line := file.readline(_LONGEST + 1):
            yield _text(line)
            skipped = 0
            while len(line) >= _LONGEST and not line.endswith(b"\n"):
                line = file.readline(_LONGEST)
                skipped += len(line)
                if skipped > _MOST_SKIPPED:
                    raise OSError(errno.EFBIG, "a line has no end")
    except (OSError, EOFError, zlib.error) as error:
        yield UsageError(f"{name} cannot be read to the end: {reason_of(error)}", hint=_FORMS)


def _text(line: bytes) -> str | UsageError:
    if len(line) > _LONGEST:
        return UsageError(f"the line is longer than {_LONGEST:,} bytes")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        return UsageError(f"not UTF-8: {error.reason} at byte {error.start}")
