"""Output of the headless verbs: foreign text is made visible here, and only here is anything printed.

Data go to stdout, talk to stderr. JSON is ASCII-escaped, so that no control character reaches a terminal through it.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from console.core.text import visible, visible_line

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

    def rewrite(self, text: str) -> None:
        """Write a piece of our own to stderr as it is, for the progress line of a terminal."""
        _write(sys.stderr, text)

    def text(self, text: str = "", style: str = "") -> None:
        """Write a line of readable text to stdout."""
        _write(sys.stdout, self._styled(visible(text), style) + "\n")

    def raw(self, text: str) -> None:
        """Write a file in another format, which an exporter has made safe."""
        _write(sys.stdout, text)

    def data(self, value: Any) -> None:
        """Write one JSON value on one line of stdout."""
        self.many_data([value])

    def many_data(self, values: Iterable[Any]) -> None:
        """Write JSON values, one a line, without flushing in between; what was written stays if one raises."""
        import json  # here, as the app comes this way, too, and needs none

        try:
            for value in values:
                sys.stdout.write(json.dumps(value) + "\n")
        finally:
            sys.stdout.flush()

    def rows(
        self, headings: Sequence[str], rows: Iterable[Sequence[object]], *, right: frozenset[int] = frozenset()
    ) -> None:
        """Write a table, its columns as wide as their content; columns in `right` are aligned right."""
        cells = [[visible_line(str(cell)) for cell in row] for row in rows]
        widths = [max([len(head), *(len(row[n]) for row in cells)]) for n, head in enumerate(headings)]
        for number, row in enumerate([list(headings), *cells]):
            line = "  ".join(
                cell.rjust(width) if n in right else cell.ljust(width)
                for n, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            _write(sys.stdout, self._styled(line.rstrip(), "faint" if number == 0 else "") + "\n")

    def _styled(self, text: str, style: str) -> str:
        if not style or not self._color or not sys.stdout.isatty():
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def _write(stream: TextIO, text: str) -> None:
    """Write and flush, so that a pipe sees each line; characters the terminal cannot show are escaped."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
