"""Output of the headless verbs: foreign text is made visible here, and only here is anything printed.

Data go to stdout, talk to stderr. JSON is ASCII-escaped, so that no control character reaches a terminal through it.
The few escape sequences that are written, for colours and the progress line, are put around text that is clean already.
What a suite's code prints goes neither way: `separate_prints` keeps it from the terminal and from JSON. What else is
written there (the interpreter's warnings, which quote text that is parsed; loggers of libraries) is cleaned on its way.
"""

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from console.core.ascii_text import to_ascii
from console.core.captured_output import capture
from console.core.fault import UsageError
from console.core.text import visible, visible_file, visible_line
from console.exchange.json_kind import JsonKind

ERROR = JsonKind(
    "error",
    "any verb",
    "Why a command ended early, beside the same words on stderr.",
    {
        "message": "what is wrong",
        "where": "option, file, line or key; may be empty",
        "hint": "what to do; may be empty",
        "exit_code": "as the process ends",
    },
)

_CLEAR_LINE = "\r\x1b[K"
_STYLES = {"bad": "31", "good": "32", "warning": "33", "faint": "2", "strong": "1"}


class Output:
    """Where a verb writes."""

    def __init__(
        self, *, machine: bool = False, quiet: bool = False, color: bool = True, ascii_only: bool = False
    ) -> None:
        """Write JSON only if `machine`, no progress if `quiet`, colour only to terminals that want it.

        With `ascii_only`, signs of ours are written in ASCII; foreign letters stay.
        """
        self.machine = machine
        self._clean = to_ascii if ascii_only else str
        self.quiet = quiet
        self._left_out: list[str] = []
        """Columns that the last table had no room for."""
        self._color = color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def info(self, text: str) -> None:
        """Write a line on stderr, unless quiet."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Write a line on stderr, even when quiet."""
        _write(sys.stderr, self._clean(visible(text)) + "\n")

    def error(self, message: str, code: int, *, where: str = "", hint: str = "") -> int:
        """Write why a command ends early, on stderr and, as JSON, on stdout; return its exit code."""
        self.warn(f"eval-console: {UsageError(message, where=where, hint=hint)}")
        if self.machine:
            self.data(ERROR, {"message": message, "where": where, "hint": hint, "exit_code": int(code)})
        return code

    @property
    def rewrites(self) -> bool:
        """Whether progress is one line that is written anew, on a terminal, and not a line now and then."""
        return not self.quiet and sys.stderr.isatty()

    def rewrite(self, text: str, *, last: bool = False) -> None:
        """Write the progress line of a terminal anew; an empty text clears it, the last one ends it."""
        _write(sys.stderr, _CLEAR_LINE + self._clean(visible_line(text)) + ("\n" if last else ""))

    def text(self, text: str = "", style: str = "") -> None:
        """Write a line of readable text to stdout."""
        _write(sys.stdout, self._styled(self._clean(visible(text)), style) + "\n")

    def prose(self, text: str, style: str = "") -> None:
        """Write readable text beside a table to stdout, broken between words where the terminal ends."""
        lead = text[: len(text) - len(text.lstrip(" "))]
        for line in textwrap.wrap(
            self._clean(visible(text.strip())),
            terminal_width(),
            initial_indent=lead,
            subsequent_indent=lead + "  ",
            break_on_hyphens=False,
        ):
            _write(sys.stdout, self._styled(line, style) + "\n")

    def file(self, text: str) -> None:
        """Write what could as well be a file: its tabs stay. Exporters make their text clean, so it stays as it is."""
        _write(sys.stdout, visible_file(text))

    def data(self, kind: JsonKind, fields: Mapping[str, Any]) -> None:
        """Write one JSON object on one line of stdout."""
        self.many_data(kind, [fields])

    def many_data(self, kind: JsonKind, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write JSON objects of one kind, one a line."""
        self.lines(kind.as_object(fields) for fields in rows)

    def lines(self, values: Iterable[Any]) -> None:
        """Write bare JSON values, one a line, without flushing in between; what was written stays if one raises."""
        import json  # here, as the app comes this way, too, and needs none

        try:
            stream = _terminal(sys.stdout)
            for value in values:
                stream.write(json.dumps(value) + "\n")
        finally:
            sys.stdout.flush()

    def rows(
        self,
        headings: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        right: frozenset[int] = frozenset(),
        first: Sequence[str] = (),
    ) -> None:
        """Write a table that fits the terminal.

        Args:
            headings: of the columns.
            rows: their cells.
            right: columns that are aligned right.
            first: headings in order of importance; what is not named follows from left to right. Where the table is
                too wide, long texts are cut first, then the least important columns are left out and named on stderr.
        """
        cells = [[self._clean(visible_line(str(cell))) for cell in row] for row in [headings, *rows]]
        widths = [max(len(row[n]) for row in cells) for n in range(len(headings))]
        order = sorted(range(len(headings)), key=lambda n: first.index(headings[n]) if headings[n] in first else 99)
        fitted = fit_columns(widths, order, right, terminal_width())
        lines: list[str] = []
        for number, row in enumerate(cells):
            line = "  ".join(
                _cut(row[n], width).rjust(width) if n in right else _cut(row[n], width).ljust(width)
                for n, width in enumerate(fitted)
                if width or not widths[n]
            )
            lines.append(self._styled(line.rstrip(), "faint" if number == 0 else ""))
        _write(sys.stdout, "\n".join(lines) + "\n")
        left_out = [cells[0][n] for n, width in enumerate(fitted) if widths[n] and not width]
        if left_out and not self.quiet and left_out != self._left_out:  # of many tables the first says it
            self._left_out = left_out
            self.info(f"no room for: {', '.join(left_out)} (COLUMNS={sum(widths) + 2 * len(widths) - 2} shows all)")

    def _styled(self, text: str, style: str) -> str:
        if not style or not self._color or not sys.stdout.isatty():
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


_LONG = 18
"""Cells of a text column that are kept when it is cut: longer texts lose their end, numbers never."""
_BETWEEN = 2


def terminal_width() -> int:
    """Return how wide a table may be: as COLUMNS says, else the terminal; 80 when neither is known."""
    return max(shutil.get_terminal_size((80, 24)).columns, 20)


def fit_columns(widths: Sequence[int], order: Sequence[int], right: frozenset[int], room: int) -> list[int]:
    """Return how wide each column is shown; 0: not at all.

    Args:
        widths: of the longest cell of each.
        order: columns, the most important first.
        right: columns of numbers, which are never cut.
        room: of the whole table.
    """
    least = [width if n in right else min(width, _LONG) for n, width in enumerate(widths)]
    shown = list(order)
    while len(shown) > 1 and sum(least[n] for n in shown) + _BETWEEN * (len(shown) - 1) > room:
        shown.pop()
    fitted = [least[n] if n in shown else 0 for n in range(len(widths))]
    spare = room - sum(fitted) - _BETWEEN * (len(shown) - 1)
    for n in shown:
        more = max(min(widths[n] - fitted[n], spare), 0)
        fitted[n], spare = fitted[n] + more, spare - more
    return fitted


def _cut(text: str, width: int) -> str:
    """Cut prose at its end, and names in their middle: those of runs differ in their last letters."""
    if len(text) <= width:
        return text
    tail = 0 if " " in text else (width - 1) // 3
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def flush() -> None:
    """Write out what both streams still hold."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # its reader has left
            stream.flush()


def silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain of the reader that left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _SeparatedStream:
    """A standard stream for everybody else: made visible, without output that is captured (`core.captured_output`)."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        if not capture(text):
            _write(self.stream, visible_file(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def separate_prints() -> Generator[None]:
    """Keep what suites print from stdout and stderr meanwhile, and clean the rest; `Output` is not touched."""
    streams: Any = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_SeparatedStream(stream) for stream in streams)  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def _terminal(stream: TextIO) -> TextIO:
    return stream.stream if isinstance(stream, _SeparatedStream) else stream


def _write(stream: TextIO, text: str) -> None:
    """Write clean text and flush, so that a pipe sees each line; characters the terminal cannot show are escaped."""
    stream = _terminal(stream)
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
