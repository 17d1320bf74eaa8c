"""Output of the headless verbs: the only module that prints, and that makes untrusted text visible.

Data goes to stdout, messages to stderr. JSON is ASCII-escaped, so that no control character reaches a terminal. The few
escape sequences written, for colors and the progress line, surround text that is already clean. Output of a suite's
code goes to neither stream: `separate_prints` keeps it from the terminal and from JSON, and sanitizes other writes (the
interpreter's warnings, which quote parsed text; loggers of libraries).
"""

import codecs
import contextlib
import math
import os
import sys
import textwrap
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, cast

from console.core.ascii_text import to_ascii
from console.core.captured_output import capture
from console.core.fault import UsageError
from console.core.shortening import shorten_label
from console.core.text import visible, visible_file, visible_line
from console.exchange.json_kind import JsonKind

ERROR = JsonKind(
    "error",
    "any verb",
    "Error that ended a command; stderr has the same text.",
    {
        "message": "what is wrong",
        "where": "option, file, line or key; may be empty",
        "hint": "what to do; may be empty",
        "exit_code": "exit code of the process",
    },
)

_MOST_FOREIGN = 20_000
"""Maximum number of characters shown of other code's output to the descriptors of stdout and stderr."""
_CLEAR_LINE = "\r\x1b[K"
_STYLES = {"bad": "31", "good": "32", "warning": "33", "faint": "2", "strong": "1"}


class Output:
    """Output streams of a verb."""

    def __init__(
        self, *, machine: bool = False, quiet: bool = False, color: bool = True, ascii_only: bool = False
    ) -> None:
        """Write JSON only if `machine`, no progress if `quiet`, and color only to terminals that want it.

        With `ascii_only`, the program's symbols are written in ASCII; other letters stay.
        """
        self.machine = machine
        self._clean = to_ascii if ascii_only else str
        self.quiet = quiet
        self._left_out: list[str] = []
        """Columns omitted from the last table because it was too wide."""
        self._color = color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def info(self, text: str) -> None:
        """Write a sentence to stderr, unless quiet."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Write a sentence to stderr, wrapped on a terminal, even when quiet."""
        clean = self._clean(visible(text))
        if _error_stream().isatty():
            clean = "\n".join(line for part in clean.split("\n") for line in wrapped(part) or [""])
        _write(_error_stream(), clean + "\n")

    def ask(self, question: str) -> str:
        """Ask on stderr and return the answer without blanks around it."""
        _write(_error_stream(), self._clean(visible_line(question)))
        if not (line := sys.stdin.readline()):
            raise UsageError("the input ended without an answer", hint="Give it as an option.")
        return line.strip()

    @property
    def can_ask(self) -> bool:
        """True if a person can be asked: stdin and stderr are terminals."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, warning: str, *, hint: str, unasked: str = "") -> None:
        """Ask whether to make calls despite a warning.

        Raises:
            UsageError: the answer is no, or there is nobody to ask; the message is then `unasked`, or else the warning.
        """
        if not self.can_ask:
            raise UsageError(f"{unasked or warning} No calls were made", hint=hint)
        self.warn(f"{warning} Continue? [y/N]")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise UsageError("no calls were made", hint="Answer y, or add --yes.")

    def error(self, message: str, code: int, *, where: str = "", hint: str = "") -> int:
        """Report why a command ends early, on stderr and as JSON on stdout; return its exit code."""
        self.warn(f"eval-console: {UsageError(message, where=where, hint=hint)}")
        if self.machine:
            self.data(ERROR, {"message": message, "where": where, "hint": hint, "exit_code": int(code)})
        return code

    @property
    def rewrites(self) -> bool:
        """True if progress is one rewritten line, on a terminal, instead of occasional lines."""
        return not self.quiet and _error_stream().isatty()

    def rewrite(self, text: str, *, last: bool = False) -> None:
        """Rewrite the progress line of a terminal; empty text clears it, `last` ends it."""
        _write(_error_stream(), _CLEAR_LINE + self._clean(visible_line(text)) + ("\n" if last else ""))

    def text(self, text: str = "", style: str = "") -> None:
        """Write a line of readable text to stdout."""
        _write(_output_stream(), self._styled(self._clean(visible(text)), style) + "\n")

    def parts(self, parts: Iterable[tuple[str, str]]) -> None:
        """Write a line to stdout, given as texts with their styles."""
        _write(
            _output_stream(), "".join(self._styled(self._clean(visible(text)), style) for text, style in parts) + "\n"
        )

    def prose(self, text: str, style: str = "") -> None:
        """Write a sentence to stdout, wrapped at the terminal's width."""
        for line in wrapped(self._clean(visible(text))):
            _write(_output_stream(), self._styled(line, style) + "\n")

    def file(self, text: str) -> None:
        """Write the content of a file: tabs are kept, and exporters have already sanitized it."""
        _write(_output_stream(), visible_file(text))

    def data(self, kind: JsonKind, fields: Mapping[str, Any]) -> None:
        """Write one JSON object of a declared kind on one line of stdout."""
        self.many_data(kind, [fields])

    def many_data(self, kind: JsonKind, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write JSON objects of one kind, one per line."""
        self.lines(kind.as_object(fields) for fields in rows)

    def lines(self, values: Iterable[Any]) -> None:
        """Write bare JSON values, one per line, without flushing in between; written lines stay if one raises.

        Numbers that JSON lacks become null.
        """
        import json  # imported late: the app does not need it

        try:
            stream = _terminal(_output_stream())
            for value in values:
                try:
                    line = json.dumps(value, allow_nan=False)
                except ValueError:
                    line = json.dumps(_without_nan(value))
                stream.write(line + "\n")
        finally:
            _output_stream().flush()

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
            headings: column headings.
            rows: cells by row.
            right: right-aligned columns.
            first: headings by importance; others follow from left to right. If the table is too wide, long text is cut
                first, then the least important columns are dropped and listed on stderr.
        """
        cells = [[self._clean(visible_line(str(cell))) for cell in row] for row in [headings, *rows]]
        widths = [max(len(row[n]) for row in cells) for n in range(len(headings))]
        order = sorted(range(len(headings)), key=lambda n: first.index(headings[n]) if headings[n] in first else 99)
        fitted = fit_columns(widths, order, right, terminal_width())
        lines: list[str] = []
        for number, row in enumerate(cells):
            line = "  ".join(
                shorten_label(row[n], width).rjust(width) if n in right else shorten_label(row[n], width).ljust(width)
                for n, width in enumerate(fitted)
                if width or not widths[n]
            )
            lines.append(self._styled(line.rstrip(), "faint" if number == 0 else ""))
        _write(_output_stream(), "\n".join(lines) + "\n")
        left_out = [cells[0][n] for n, width in enumerate(fitted) if widths[n] and not width]
        if left_out and not self.quiet and left_out != self._left_out:  # reported once for many tables
            self._left_out = left_out
            columns = sum(widths) + _BETWEEN * (len(widths) - 1)
            self.info(f"no room for: {', '.join(left_out)} (COLUMNS={columns} shows all)")

    def _styled(self, text: str, style: str) -> str:
        if not style or not self._color or not _output_stream().isatty():
            return text
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


_LONG = 18
"""Minimum width to which a text column is cut; numbers are never cut."""
_BETWEEN = 2


def terminal_width() -> int:
    """Return the width for tables: COLUMNS, else the terminal's, else 80."""
    return max(_given_width() or 80, 20)


def _given_width() -> int:
    """Return COLUMNS, else the width of the terminal; 0 without either."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(_output_stream().fileno()).columns
    except (OSError, ValueError):  # no terminal, or a stream without a descriptor
        return 0


def wrapped(text: str) -> list[str]:
    """Return a text broken between words at the width of the terminal, with further lines indented.

    Without a terminal it is one line, for programs that read lines.
    """
    if not _given_width():
        return [text]
    lead = text[: len(text) - len(text.lstrip(" "))]
    return textwrap.wrap(
        text.strip(),
        terminal_width(),
        initial_indent=lead,
        subsequent_indent=lead + "  ",
        break_on_hyphens=False,
    )


def fit_columns(widths: Sequence[int], order: Sequence[int], right: frozenset[int], room: int) -> list[int]:
    """Return the width of each column; 0 for those to drop.

    Args:
        widths: width of the longest cell of each column.
        order: columns by importance.
        right: columns of numbers, which are never cut.
        room: width of the whole table.
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


def flush() -> None:
    """Flush both streams."""
    for stream in (_output_stream(), _error_stream()):
        with contextlib.suppress(OSError, ValueError):  # the reader has closed the pipe
            stream.flush()


def silence_stdout() -> None:
    """Redirect stdout to nothing, so that the final flush reports neither a closed pipe nor a full disk."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_missing_streams() -> None:
    """Open closed standard streams on the null device; otherwise the next files opened would get their descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - until the end


class _SeparatedStream:
    """A standard stream for other code: sanitized, and without captured output (`core.captured_output`)."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        if not capture(text):
            _write(self.stream, visible_file(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        """Do nothing: the stream belongs to this program."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def separate_prints() -> Generator[None]:
    """Capture what suites print to stdout and stderr, and sanitize the rest; `Output` is not affected."""
    streams: Any = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_SeparatedStream(stream) for stream in streams)  # pyright: ignore[reportAttributeAccessIssue]
    _separated.append((sys.stdout, sys.stderr))
    try:
        yield
    finally:
        _separated.pop()
        sys.stdout, sys.stderr = streams


_separated: list[tuple[Any, Any]] = []
"""Streams of `separate_prints`, kept because suite code may redirect `sys.stdout` while its case waits."""


def _output_stream() -> Any:
    return _separated[-1][0] if _separated else sys.stdout


def _error_stream() -> Any:
    return _separated[-1][1] if _separated else sys.stderr


def _without_nan(value: Any) -> Any:
    """Return a value with None for each number that JSON lacks."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_without_nan(key): _without_nan(item) for key, item in cast(dict[Any, Any], value).items()}
    return [_without_nan(item) for item in cast(list[Any], value)] if isinstance(value, list | tuple) else value


@contextmanager
def separate_descriptors() -> Generator[None]:
    """Sanitize direct output to descriptors 1 and 2: by `os.write`, C libraries or child processes.

    It goes to stderr, up to a limit; `Output` and this program's streams get descriptors of their own. Use it inside
    `separate_prints`. Nothing changes if the streams are others, or if the system refuses descriptors or a thread.
    """
    with contextlib.ExitStack() as undo:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            _separate_descriptors(undo)
        _separations.append(undo)
        yield


_separations: list[contextlib.ExitStack] = []
"""Functions that undo `separate_descriptors`, each once."""


def join_descriptors() -> None:
    """End `separate_descriptors` early, for the app, which draws on the terminal itself."""
    while _separations:
        _separations.pop().close()


def _separate_descriptors(undo: contextlib.ExitStack) -> None:
    """Redirect both descriptors to a thread; each step adds its reversal to `undo`.

    Raises:
        OSError: the streams have no descriptors, or there are too few.
        RuntimeError: no thread can be started.
    """
    streams: Any = sys.stdout, sys.stderr
    for number, stream in enumerate(streams, start=1):
        if not isinstance(stream, _SeparatedStream) or stream.fileno() != number:
            return
    own = [undo.enter_context(_same_place(stream.stream)) for stream in streams]
    read_end, write_end = os.pipe()
    with open(write_end, "wb", buffering=0):
        reader = threading.Thread(
            target=_show_clean, args=(read_end, os.dup(own[1].fileno())), name="writes", daemon=True
        )
        reader.start()
        undo.callback(reader.join, 1.0)  # longer only if a child process lives on
        for number, stream in enumerate(streams, start=1):
            undo.callback(os.dup2, own[number - 1].fileno(), number)
            undo.callback(setattr, stream, "stream", stream.stream)
            stream.stream = own[number - 1]
            os.dup2(write_end, number)


def _same_place(stream: TextIO) -> TextIO:
    """Return a new stream, with its own descriptor, to the same target as another."""
    stream.flush()
    return open(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors=stream.errors)


def _show_clean(source: int, target: int) -> None:
    """Copy bytes from one descriptor to another as visible text, up to a limit."""
    decoder, left = codecs.getincrementaldecoder("utf-8")("backslashreplace"), _MOST_FOREIGN
    with open(source, "rb", buffering=0) as pipe, open(target, "wb", buffering=0) as shown:
        while piece := pipe.read(1 << 16):
            text = decoder.decode(piece)
            if left > 0:
                more = "\n… more was written and is not shown\n" if len(text) > left else ""
                with contextlib.suppress(OSError):  # the reader is gone
                    shown.write(visible_file(text[:left] + more).encode("utf-8", "backslashreplace"))
                left -= len(text)


def _terminal(stream: TextIO) -> TextIO:
    return stream.stream if isinstance(stream, _SeparatedStream) else stream


def _write(stream: TextIO, text: str) -> None:
    """Write clean text and flush, so that a pipe sees each line; unencodable characters are escaped."""
    stream = _terminal(stream)
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
