"""Client side of a run's socket: receives frames and sends commands."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from console.core.live import AnyFrame, Command
from console.core.ready_type import ready_type

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ready_type(AnyFrame)).decode
LIMIT_BYTES = 64 << 20
HEARD_WITHIN_S = 2.0
"""Seconds to wait for an engine to read a command; it normally takes milliseconds."""


async def send_command(run_path: Path, command: Command) -> bool:
    """Send a command to the engine of a run folder and wait until it is read; return False if no engine listens."""
    link = await EngineLink.connect(run_path)
    if link is None:
        return False
    link.send(command)
    await link.finish()
    return True


class EngineLink:
    """One connection to a live engine."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Wrap an open connection; use `connect`."""
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, run_path: Path) -> "EngineLink | None":
        """Attach to the engine of a run folder; None if no engine listens."""
        place = run_path / "live.sock"
        try:
            target = place.readlink() if place.is_symlink() else place
            reader, writer = await asyncio.open_unix_connection(str(target), limit=LIMIT_BYTES)
        except (OSError, ValueError):
            return None
        return cls(reader, writer)

    async def frames(self) -> AsyncIterator[AnyFrame]:
        """Yield frames until the engine closes the connection, skipping unknown frames of newer engines."""
        while True:
            try:
                line = await self._reader.readline()
            except (ConnectionError, ValueError):
                return
            if not line:
                return
            try:
                yield _decode(line)
            except (ValueError, RecursionError):
                continue

    def send(self, command: Command) -> None:
        """Send a command; its effect shows in later frames."""
        if not self._writer.is_closing():
            self._writer.write(_encode(command) + b"\n")

    async def finish(self) -> None:
        """Detach after the engine has read everything sent.

        An engine that writes to a closed connection drops it together with unread commands. So this side is closed
        first, and the engine's output is read until it closes its own.
        """
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(HEARD_WITHIN_S):
                self._writer.write_eof()
                while await self._reader.read(1 << 16):
                    pass
        self.close()

    def close(self) -> None:
        """Detach immediately. The run continues."""
        self._writer.close()
