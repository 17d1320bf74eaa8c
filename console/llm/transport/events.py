"""Splits streamed bytes into events: server-sent events, or one JSON value per line.

Nothing is decoded here, so characters split between pieces stay whole. Bytes are joined once per event, however many
pieces it arrives in; the caller bounds the total size.
"""

from typing import NamedTuple, Protocol

_MARK = b"\xef\xbb\xbf"
"""A byte order mark."""


class Event(NamedTuple):
    """An event; `data` is its data lines joined with line feeds, or an error page found instead."""

    name: bytes
    data: bytes


class EventReader(Protocol):
    """Collects pieces of a stream and returns the events they complete."""

    @property
    def body_begins(self) -> bytes:
        """Bytes that, at the start, indicate a whole body instead of a stream."""
        ...

    def feed(self, piece: bytes) -> list[Event]:
        """Add a piece; return the events that are now complete."""
        ...

    def end(self) -> Event | None:
        """Return the unfinished event at the end of the stream, if it has data."""
        ...


class LineReader:
    """Reads one JSON value per line (NDJSON), the format streamed by Ollama; blank lines are skipped."""

    body_begins = b"[<"

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, piece: bytes) -> list[Event]:
        self._parts.append(piece)
        if b"\n" not in piece:
            return []
        *lines, rest = b"".join(self._parts).split(b"\n")
        self._parts = [rest] if rest else []
        return [event for line in lines if (event := _line_event(line)) is not None]

    def end(self) -> Event | None:
        rest = b"".join(self._parts)
        self._parts = []
        return _line_event(rest)


class SseReader:
    """Reads server-sent events by the WHATWG event-stream grammar; comments and pings are dropped.

    There is one exception to the grammar: a line that starts like a web page or like JSON is not ignored. Proxies and
    servers that fail in mid-stream write error pages or bare JSON errors into it; these become events named `error`.
    """

    body_begins = b"{[<"

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._after_return = self._ends_line = False
        self._at_start = True

    def feed(self, piece: bytes) -> list[Event]:
        if self._at_start and piece:
            piece = self._without_mark(piece)
        if b"\r" in piece or self._after_return:
            piece = self._with_line_feeds(piece)
        if not piece:
            return []
        ends_block = b"\n\n" in piece or (self._ends_line and piece.startswith(b"\n"))
        self._ends_line = piece.endswith(b"\n")
        self._parts.append(piece)
        if not ends_block:
            return []
        *blocks, rest = b"".join(self._parts).split(b"\n\n")
        self._parts = [rest] if rest else []
        return [event for block in blocks if (event := _event(block)) is not None]

    def end(self) -> Event | None:
        rest = b"".join(self._parts)
        self._parts = []
        return _event(rest)

    def _without_mark(self, piece: bytes) -> bytes:
        """Remove a byte order mark, even one that arrives in pieces."""
        piece = b"".join(self._parts) + piece
        self._parts = []
        if len(piece) < len(_MARK) and _MARK.startswith(piece):
            self._parts = [piece]
            return b""
        self._at_start = False
        return piece.removeprefix(_MARK)

    def _with_line_feeds(self, piece: bytes) -> bytes:
        """Convert CR and CRLF to LF; a CR at the end of a piece is a complete line end."""
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        elif not piece:
            return piece
        self._after_return = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _line_event(line: bytes) -> Event | None:
    data = line.strip().removeprefix(_MARK)
    return Event(b"", data) if data else None


def _event(block: bytes) -> Event | None:
    if block.startswith(b"data:") and b"\n" not in block:
        return Event(b"", block[6:] if block[5:6] == b" " else block[5:])
    name = b""
    data: list[bytes] = []
    lines = block.split(b"\n")
    for number, line in enumerate(lines):
        if line.startswith((b"<", b"{")):
            return Event(b"error", b"\n".join(lines[number:]))
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return Event(name, b"\n".join(data)) if data else None
