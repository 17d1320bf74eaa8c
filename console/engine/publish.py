"""The run's socket: publishes calls in flight and receives commands. Costs nothing without watchers."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec

from console.core.case import Key
from console.core.live import AnyFrame, Began, Command, Delta, Deltas, Status
from console.core.ready_type import ready_type
from console.engine.background import start_task, stop
from console.sandbox.scratch import SOCKET, make_scratch, remove_scratch

FLUSH_S = 0.1
STATUS_S = 0.5
SOON_S = 0.015
"""Minimum seconds between flushes of the first words of answers, so that simultaneous ones share a flush."""
BEGINNING = 64
"""Length of an answer's beginning, which is sent immediately; long enough for tags before the first word."""
BACKLOG_BYTES = 4 << 20
"""Backlog at which a slow watcher is disconnected; it can attach again."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ready_type(Command)).decode


class Publisher:
    """Serves one run to any number of watchers."""

    def __init__(
        self,
        path: Path,
        status: Callable[[], Status],
        handle_command: Callable[[Command], None],
        on_readers: Callable[[bool], None] = lambda on: None,
    ) -> None:
        """Prepare a socket at `path`.

        Args:
            path: path of the socket.
            status: returns the engine's state.
            handle_command: called with each command.
            on_readers: called with True or False when the first watcher wants text or the last one stops.
        """
        self._path, self._status, self._handle_command = path, status, handle_command
        self._on_readers, self._had_readers = on_readers, False
        self._watchers: set[asyncio.StreamWriter] = set()
        self._readers: set[asyncio.StreamWriter] = set()
        """Watchers that also want streamed text."""
        self._in_flight: dict[Key, dict[int, tuple[Began, dict[str, list[str]]]]] = {}
        """Calls by conversation and number, with their texts so far."""
        self._fresh: dict[tuple[Key, int, str], list[str]] = {}
        self._flushed_at = 0.0
        self._soon: asyncio.TimerHandle | None = None
        self._last_status = b""
        self._server: asyncio.Server | None = None
        self._ticker: asyncio.Task[None] | None = None
        self._private: Path | None = None

    async def open(self, notify: Callable[[str], None]) -> None:
        """Start serving, replacing the socket file of a killed engine; failures are notified."""
        try:
            await self._listen()
        except OSError as error:
            notify(f"this run cannot be watched: {error.strerror or error}")

    async def _listen(self) -> None:
        self._path.unlink(missing_ok=True)
        place = self._short_place()
        self._server = await asyncio.start_unix_server(self._serve, sock=_private_socket(place))
        self._ticker = start_task(self._tick(), "publisher")

    def _short_place(self) -> Path:
        """Return a path within the limit of 107 bytes, linking a longer one to a private folder."""
        if len(os.fsencode(self._path)) <= 100:
            return self._path
        self._private = Path(make_scratch())
        place = self._private / SOCKET
        self._path.symlink_to(place)
        return place

    async def close(self) -> None:
        """Send the last state and stop serving."""
        await stop(self._ticker)
        if self._soon is not None:
            self._soon.cancel()
        self._send(_encode(self._status()))
        for writer in list(self._watchers):
            writer.close()
        if self._server is not None:
            self._server.close()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        if self._private is not None:
            remove_scratch(str(self._private))

    def began(self, frame: Began) -> None:
        """Publish that a call was sent."""
        self._in_flight.setdefault(frame.key, {})[frame.n] = (frame, {})
        if self._readers:
            self._send(_encode(frame), self._readers)

    def text(self, key: Key, n: int, kind: str, text: str) -> None:
        """Publish new text of a call: the beginning immediately, the rest with the next flush."""
        flight = self._in_flight.get(key, {}).get(n)
        parts = flight[1].setdefault(kind, []) if flight is not None else None
        if self._readers:
            self._fresh.setdefault((key, n, kind), []).append(text)
            begins = parts is not None and len(parts) < BEGINNING and sum(map(len, parts)) < BEGINNING
            if begins and self._soon is None:
                loop = asyncio.get_running_loop()
                self._soon = loop.call_at(max(loop.time(), self._flushed_at + SOON_S), self._flush_beginnings)
        if parts is not None:
            parts.append(text)

    def restarted(self, key: Key, n: int) -> None:
        """Publish that a call is retried, which discards its text so far."""
        flight = self._in_flight.get(key, {}).get(n)
        if flight is None:
            return
        for kind in flight[1]:
            self._fresh.pop((key, n, kind), None)
        self.began(flight[0])

    def ended(self, key: Key, n: int | None = None) -> None:
        """Drop a call, or all calls of a conversation, that ended."""
        if n is None:
            self._in_flight.pop(key, None)
        elif key in self._in_flight:
            self._in_flight[key].pop(n, None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._flush()
        self._welcome(writer)
        self._watchers.add(writer)
        self._readers.add(writer)
        self._report_readers()
        try:
            while line := await reader.readline():
                with contextlib.suppress(ValueError, RecursionError):
                    self._receive(_decode(line), writer)
                self._send_status()
        except (ConnectionError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            self._disconnect(writer)
            writer.close()

    def _receive(self, command: Command, writer: asyncio.StreamWriter) -> None:
        if command.do == "state_only":
            self._readers.discard(writer)
            self._report_readers()
        else:
            self._handle_command(command)

    def _disconnect(self, writer: asyncio.StreamWriter) -> None:
        self._watchers.discard(writer)
        self._readers.discard(writer)
        self._report_readers()

    def _report_readers(self) -> None:
        if bool(self._readers) != self._had_readers:
            self._had_readers = bool(self._readers)
            self._on_readers(self._had_readers)

    def _welcome(self, writer: asyncio.StreamWriter) -> None:
        """Send a new watcher the state, the calls in flight, and their text so far."""
        frames: list[AnyFrame] = [self._status()]
        for began, texts in (flight for flights in self._in_flight.values() for flight in flights.values()):
            frames.append(began)
            items = [Delta(began.key, began.n, "".join(parts), kind) for kind, parts in texts.items()]
            if items:
                frames.append(Deltas(items))
        writer.write(b"".join(_encode(frame) + b"\n" for frame in frames))

    async def _tick(self) -> None:
        ticks = 0
        while True:
            await asyncio.sleep(FLUSH_S)
            if not self._watchers:
                self._fresh.clear()
                continue
            self._flush()
            ticks += 1
            if ticks % round(STATUS_S / FLUSH_S) == 0:
                self._send_status()

    def _flush_beginnings(self) -> None:
        self._soon = None
        self._flushed_at = asyncio.get_running_loop().time()
        self._flush(begins=True)

    def _flush(self, *, begins: bool = False) -> None:
        if self._fresh:
            items = [Delta(key, n, "".join(parts), kind) for (key, n, kind), parts in self._fresh.items()]
            self._fresh.clear()
            self._send(_encode(Deltas(items, begins)), self._readers)

    def _send_status(self) -> None:
        status = _encode(self._status())
        if status != self._last_status:
            self._last_status = status
            self._send(status)

    def _send(self, frame: bytes, to: set[asyncio.StreamWriter] | None = None) -> None:
        for writer in list(self._watchers if to is None else to):
            if writer.transport.get_write_buffer_size() > BACKLOG_BYTES:
                self._disconnect(writer)
                writer.transport.abort()
            else:
                writer.write(frame + b"\n")


def _private_socket(place: Path) -> socket.socket:
    """Return a bound socket that only its owner can use.

    The umask is process-wide, so nothing else may run while it is changed: several engines can start at once.

    Raises:
        OSError: the socket cannot be bound.
    """
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    old = os.umask(0o177)
    try:
        bound.bind(str(place))
    except OSError:
        bound.close()
        raise
    finally:
        os.umask(old)
    bound.setblocking(False)
    return bound
