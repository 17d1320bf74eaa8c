"""Incremental reader of large JSON files: yields members of an object or elements of a list, as bytes.

Memory use is that of the largest element. A truncated file yields its complete values.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from console.core.fault import UsageError, os_errors_as
from console.store.atomic import open_regular

PIECE_BYTES = 1 << 20
LARGEST_BYTES = 128 << 20
_MOST_SKIPPED = 4 * LARGEST_BYTES
"""Maximum size of an element; larger ones are skipped and reported."""
_STRUCTURE = re.compile(rb'["\[\]{}]')
_STRING_END = re.compile(rb'["\\]')
_SCALAR_END = re.compile(rb"[,\]}\s]")
_SCALAR_STARTS = b"-0123456789tfnNI"
_SPACE = b" \t\r\n"

Names = tuple[str, ...]
"""Member names that lead to a value."""


class Truncated(ValueError):
    """The file ends in the middle of a value."""


class JsonPieces:
    """Reads one JSON file from its beginning."""

    def __init__(self, file: BinaryIO) -> None:
        """Read from an open file, which the caller closes."""
        self._file = file
        self._buffer = bytearray()
        self._at = 0

    @property
    def place(self) -> int:
        """Position in the file right after what was consumed."""
        return self._file.tell() - len(self._buffer) + self._at

    def elements(self, lists: Collection[Names]) -> Iterator[tuple[Names, bytes | None]]:
        """Yield members and elements with their paths; contents of a yielded value are not yielded again.

        Args:
            lists: paths of the lists whose elements are yielded one by one; `()` is the whole file.

        Yields:
            The path and the JSON text; None in place of a value that is too large.

        Raises:
            Truncated: the file is truncated; all complete values have been yielded.
            ValueError: it is not JSON.
        """
        yield from self._value((), lists)

    def _value(self, path: Names, lists: Collection[Names]) -> Iterator[tuple[Names, bytes | None]]:
        opening = self._peek()
        if opening == b"[" and path in lists:
            yield from self._list(path)
        elif opening == b"{" and any(list_path[: len(path)] == path and list_path != path for list_path in lists):
            yield from self._object(path, lists)
        else:
            yield path, self._raw()

    def _list(self, path: Names) -> Iterator[tuple[Names, bytes | None]]:
        self._at += 1
        if self._peek() == b"]":
            self._at += 1
            return
        while True:
            yield path, self._raw()
            if self._take(b",]") == b"]":
                return

    def _object(self, path: Names, lists: Collection[Names]) -> Iterator[tuple[Names, bytes | None]]:
        import msgspec

        self._at += 1
        if self._peek() == b"}":
            self._at += 1
            return
        while True:
            name = self._raw()
            self._take(b":")
            yield from self._value((*path, msgspec.json.decode(name or b'""', type=str, strict=False)), lists)
            if self._take(b",}") == b"}":
                return

    def _take(self, allowed: bytes) -> bytes:
        mark = self._peek()
        if mark not in allowed:
            raise ValueError(f"is not JSON: found {mark!r} where one of {allowed.decode()} was expected")
        self._at += 1
        return mark

    def _peek(self) -> bytes:
        """Return the next byte that is not whitespace without consuming it."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _SPACE:
                    return bytes(self._buffer[self._at : self._at + 1])
                self._at += 1
            self._more(self._at)

    def _more(self, keep_from: int) -> None:
        """Read more, discarding everything before `keep_from`."""
        piece = self._file.read(PIECE_BYTES)
        if not piece:
            raise Truncated("ends too early: it is truncated or still being written")
        del self._buffer[:keep_from]
        self._at -= keep_from
        self._buffer += piece

    def _raw(self) -> bytes | None:
        """Consume one value and return its text; None if it was too large and skipped."""
        opening = self._peek()
        start, depth, is_string = self._at, 0, False
        is_scalar = opening not in b'"[{'
        if is_scalar and opening not in _SCALAR_STARTS:
            raise ValueError(f"found {opening!r} where a value was expected")
        pattern = _SCALAR_END if is_scalar else _STRUCTURE
        while True:
            match = (_STRING_END if is_string else pattern).search(self._buffer, self._at)
            if match is None:
                self._at = len(self._buffer)
                if is_scalar and self._is_at_end():
                    break
                start = self._read_on(start)
                continue
            mark = match[0]
            if is_scalar:
                self._at = match.start()
                break
            self._at = match.end()
            if is_string and mark == b"\\":
                while self._at >= len(self._buffer):
                    start = self._read_on(start)
                self._at += 1
                continue
            if mark == b'"':
                is_string = not is_string
            else:
                depth += 1 if mark in b"[{" else -1
            if depth <= 0 and not is_string:
                break
        return bytes(self._buffer[start : self._at]) if self._at - start <= LARGEST_BYTES else None

    def _read_on(self, start: int) -> int:
        """Read more inside a value; return its start in the buffer, which is negative once the value is too large."""
        size = self._at - start
        if size > _MOST_SKIPPED:
            raise ValueError(f"a value has no end in {_MOST_SKIPPED >> 20} MiB")
        keep_from = start if size <= LARGEST_BYTES else self._at
        self._more(keep_from)
        return start - keep_from

    def _is_at_end(self) -> bool:
        """Return whether only whitespace follows; consumes it."""
        try:
            self._more(0)
        except Truncated:
            return True
        return False


def json_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines of a JSONL file with their numbers from 1; None in place of a line that is too large.

    Raises:
        UsageError: the file cannot be read.
    """
    for number, _, line in placed_lines(path):
        yield number, line


def placed_lines(path: Path) -> Iterator[tuple[int, int, bytes | None]]:
    """Like `json_lines`, with the position of each line in the file, for `line_at`.

    Raises:
        UsageError: the file cannot be read.
    """
    with os_errors_as("cannot be read", where=path), open_regular(path) as file:
        number, place = 0, 0
        while line := file.readline(LARGEST_BYTES):
            number += 1
            start, place = place, place + len(line)
            is_whole = line.endswith(b"\n") or len(line) < LARGEST_BYTES
            while not is_whole:
                rest = file.readline(LARGEST_BYTES)
                place += len(rest)
                is_whole = not rest or rest.endswith(b"\n")
                line = b""
                if place - start > _MOST_SKIPPED:
                    raise UsageError(f"has no line end in {_MOST_SKIPPED >> 20} MiB", where=f"{path}:{number}")
            if line.strip() or not line:
                yield number, start, line.strip() or None


def line_at(file: BinaryIO, place: int) -> bytes:
    """Return the line at a position of a JSONL file; the position comes from `placed_lines`."""
    file.seek(place)
    return file.readline(LARGEST_BYTES).strip()
