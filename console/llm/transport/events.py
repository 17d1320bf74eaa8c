"""Server-sent events from bytes that arrive in any pieces, per the WHATWG event-stream grammar.

Only what a chat needs: comments and pings vanish, `event` and `data` remain. Nothing is decoded here, so a character
split between two pieces is whole again before anybody looks at it.

One thing is not ignored as the grammar has it: a line that begins like a web page or like JSON. Proxies and servers
that fail in mid-stream write their error page, or a bare JSON error, into the stream; it becomes an event `error`.
"""

from typing import NamedTuple


class Event(NamedTuple):
    """One event; `data` is the bytes of its data lines, joined with line feeds, or the page in its place."""

    name: bytes
    data: bytes


class EventReader:
    """Collects pieces of a stream and gives back the events they complete."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._after_return = False
        self._at_start = True

    def feed(self, piece: bytes) -> list[Event]:
        """Take the next piece; return the events that are complete now."""
        if self._at_start and piece:
            piece = self._without_mark(piece)
        if b"\r" in piece or self._after_return:
            piece = self._with_line_feeds(piece)
        if b"\n" not in piece:
            if piece:
                self._parts.append(piece)
            return []
        self._parts.append(piece)
        *blocks, rest = b"".join(self._parts).split(b"\n\n")
        self._parts = [rest] if rest else []
        return [event for block in blocks if (event := _event(block)) is not None]

    def end(self) -> Event | None:
        """Return the event that the stream ended in the middle of, if it has data."""
        rest = b"".join(self._parts)
        self._parts = []
        return _event(rest)

    def _without_mark(self, piece: bytes) -> bytes:
        """Drop a byte order mark, even one that arrives in pieces."""
        piece = b"".join(self._parts) + piece
        self._parts = []
        mark = b"\xef\xbb\xbf"
        if len(piece) < len(mark) and mark.startswith(piece):
            self._parts = [piece]
            return b""
        self._at_start = False
        return piece.removeprefix(mark)

    def _with_line_feeds(self, piece: bytes) -> bytes:
        """Turn CR and CRLF into LF; a CR at the end of a piece is a whole line end whatever comes next."""
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        elif not piece:
            return piece
        self._after_return = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


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
