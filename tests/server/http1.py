"""Just enough HTTP/1.1 for a test server: requests in, raw bytes out, full control over every byte of an answer."""

import asyncio
import json
import re
import socket
import struct
from collections.abc import Callable, Mapping
from typing import Any

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.I)


class Exchange:
    """One request and the connection to answer it on."""

    def __init__(self, connection: "Connection", method: str, path: str, head: bytes, body: bytes) -> None:
        self.connection, self.method, self.path, self.head, self.raw = connection, method, path, head, body
        self.loop = connection.loop
        self._chunked = False

    @property
    def json(self) -> dict[str, Any]:
        value = json.loads(self.raw or b"{}")
        return value if isinstance(value, dict) else {}

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def alive(self) -> bool:
        return not self.connection.lost

    def send(self, data: bytes) -> None:
        """Write raw bytes."""
        if self.alive:
            self.connection.transport.write(data)

    def answer(self, body: bytes, status: str = "200 OK", kind: str = "application/json", **headers: str) -> None:
        """Send a whole answer and finish; `retry_after="1"` becomes a header `retry-after: 1`."""
        lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        self.finish()

    def answer_json(self, value: object, status: str = "200 OK", **headers: str) -> None:
        self.answer(json.dumps(value).encode(), status, **headers)

    def error(self, status: str, message: str, code: str = "", kind: str = "error", **headers: str) -> None:
        """Send an error in OpenAI's form."""
        self.answer_json({"error": {"message": message, "type": kind, "code": code or None}}, status, **headers)

    def begin_events(self, **headers: str) -> Callable[[object], None]:
        """Send the head of an event stream; return what sends an event."""
        self._begin(b"text/event-stream; charset=utf-8", headers)
        return self.event

    def begin_lines(self) -> Callable[[object], None]:
        """Send the head of a stream of one JSON value a line; return what sends a value."""
        self._begin(b"application/x-ndjson")
        return lambda value: self.piece((value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n")

    def _begin(self, kind: bytes, headers: Mapping[str, str] = {}) -> None:
        self._chunked = True
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()).encode("latin-1")
        self.send(
            b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncache-control: no-cache\r\n%b"
            b"transfer-encoding: chunked\r\n\r\n" % (kind, more)
        )

    def piece(self, data: bytes) -> None:
        """Send one HTTP chunk."""
        self.send(b"%x\r\n%b\r\n" % (len(data), data))

    def event(self, value: object) -> None:
        """Send one event."""
        self.piece(frame(value))

    def finish(self) -> None:
        """End the answer; the connection takes its next request."""
        if self._chunked:
            self.send(b"0\r\n\r\n")
            self._chunked = False
        self.connection.next()

    def finish_later(self, seconds: float) -> None:
        """End the answer after a pause."""
        self.later(seconds, self.finish)

    def cut(self) -> None:
        """Close the connection in the middle of the answer."""
        self.connection.transport.close()

    def reset(self) -> None:
        """Reset the connection (RST)."""
        sock = self.connection.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.transport.abort()

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something later, unless the client has left by then."""
        self.loop.call_later(seconds, lambda: action() if self.alive else None)

    def every(self, seconds: float, action: Callable[[int], None], count: int = 1 << 30) -> None:
        """Do something again and again until the client leaves or `count` is reached."""

        def step(number: int) -> None:
            action(number)
            if number + 1 < count:
                self.later(seconds, lambda: step(number + 1))

        step(0)


def frame(value: object) -> bytes:
    """Return one event."""
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


class Connection(asyncio.Protocol):
    """One client connection; requests on it are answered one after another."""

    most_requests = 1 << 30
    """Requests answered on a connection; the next one finds it closed, as if it came a moment too late."""
    resets = False
    """Whether a connection is reset rather than closed."""

    def __init__(self, handle: Callable[[Exchange], None], opened: Callable[[], None]) -> None:
        self._handle, self._opened = handle, opened
        self._buffer = b""
        self._busy = False
        self._taken = 0
        self.lost = False
        self.left = asyncio.Event()
        self.transport: asyncio.Transport = None  # type: ignore[assignment]
        self.loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._opened()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self.left.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._buffer.startswith(b"\x16\x03"):  # TLS on a port without it
            self.transport.abort()
            return
        if not self._busy:
            self._parse()

    def next(self) -> None:
        self._busy = False
        if self._buffer and not self.lost:
            self._parse()

    def _parse(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end]
        length = _LENGTH.search(head)
        total = end + 4 + (int(length[1]) if length else 0)
        if len(self._buffer) < total:
            return
        body, self._buffer = self._buffer[end + 4 : total], self._buffer[total:]
        method, path, *_ = head.split(b"\r\n")[0].decode("latin-1").split(" ")
        self._busy = True
        exchange = Exchange(self, method, path.split("?")[0], head, body)
        self._taken += 1
        if self._taken <= self.most_requests:
            self._handle(exchange)
        elif self.resets:
            exchange.reset()
        else:
            exchange.cut()
