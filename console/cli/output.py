"""Output of the headless verbs: foreign text is made visible here, and only here is anything printed.

Data go to stdout, talk to stderr. JSON is ASCII-escaped, so that no control character reaches a terminal through it.
The few escape sequences that are written, for colours and the progress line, are put around text that is clean already.
What a suite's code prints goes neither way: `separate_prints` keeps it from the terminal and from JSON. What else is
written there (the interpreter's warnings, which quote text that is parsed; loggers of libraries) is cleaned on its way.
"""

import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from console.core.prints import keep_print
from console.core.text import visible, visible_file, visible_line

_CLEAR_LINE = "\r\x1b[K"
_STYLES = {"bad": "31", "good": "32", "doubt": "33", "faint": "2", "strong": "1"}


class Output:
    """Where a verb writes."""

    def __init__(self, *, machine: bool = False, quiet: bool = False, color: bool = True) -> None:
        """Write JSON only if `machine`, no progress if `quiet`, colour only to terminals that want it."""
        self.machine = machine
        self.quiet = quiet
        self._color = color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def say(self, text: str) -> None:
        """Write a line on stderr, unless quiet."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Write a line on stderr, even when quiet."""
        _write(sys.stderr, visible(text) + "\n")

    @property
    def rewrites(self) -> bool:
        """Whether progress is one line that is written anew, on a terminal, and not a line now and then."""
        return not self.quiet and sys.stderr.isatty()

    def rewrite(self, text: str, *, last: bool = False) -> None:
        """Write the progress line of a terminal anew; an empty text clears it, the last one ends it."""
        _write(sys.stderr, _CLEAR_LINE + visible_line(text) + ("\n" if last else ""))

    def text(self, text: str = "", style: str = "") -> None:
        """Write a line of readable text to stdout."""
        _write(sys.stdout, self._styled(visible(text), style) + "\n")

    def file(self, text: str) -> None:
        """Write what could as well be a file: its tabs stay. Exporters make their text clean, so it stays as it is."""
        _write(sys.stdout, visible_file(text))

    def data(self, value: Any) -> None:
        """Write one JSON value on one line of stdout."""
        self.many_data([value])

    def many_data(self, values: Iterable[Any]) -> None:
        """Write JSON values, one a line, without flushing in between; what was written stays if one raises."""
        import json  # here, as the app comes this way, too, and needs none

        try:
            stream = _terminal(sys.stdout)
            for value in values:
                stream.write(json.dumps(value) + "\n")
        finally:
            sys.stdout.flush()

    def rows(
        self, headings: Sequence[str], rows: Iterable[Sequence[object]], *, right: frozenset[int] = frozenset()
    ) -> None:
        """Write a table, its columns as wide as their content; columns in `right` are aligned right."""
        cells = [[visible_line(str(cell)) for cell in row] for row in [headings, *rows]]
        widths = [max(len(row[n]) for row in cells) for n in range(len(headings))]
        lines: list[str] = []
        for number, row in enumerate(cells):
            line = "  ".join(
                cell.rjust(width) if n in right else cell.ljust(width)
                for n, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append(self._styled(line.rstrip(), "faint" if number == 0 else ""))
        _write(sys.stdout, "\n".join(lines) + "\n")

    def _styled(self, text: str, style: str) -> str:
        if not style or not self._color or not sys.stdout.isatty():
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain of the reader that left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _SeparatedStream:
    """A standard stream for everybody else: made visible, without prints that are collected (see `core.prints`)."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        if not keep_print(text):
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
