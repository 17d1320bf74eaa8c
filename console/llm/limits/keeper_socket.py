"""Keepers of this machine: one local socket per endpoint, served by the first process that needs it.

When that process ends, another connected one takes over: the one that gets the file lock next to the socket. While it
is suspended, with its terminal or in a debugger, the others do without it. Only the user has access to the folder.
Without a usable folder, nothing is shared.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

import msgspec

from console.core.ready_type import ready_type
from console.llm.limits.keeper import FromKeeper, Keeper, ToKeeper

_RETRY_S = 0.02
_CLOSE_S = 1.0
SILENT_S = 3.0
"""Seconds without a message after which a keeper is probed, and then without an answer until it counts as suspended."""
_PROBE = b"\n"
"""A line that a keeper returns as it is."""
_LONGEST = 70
"""Maximum number of bytes in the folder's path; socket paths are limited to 107."""
_encode = msgspec.json.Encoder().encode
_to_keeper = msgspec.json.Decoder(ready_type(ToKeeper)).decode
_from_keeper = msgspec.json.Decoder(ready_type(FromKeeper)).decode
Send = Callable[[ToKeeper], None]
StartTask = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]


class Peer(Protocol):
    """The client of a keeper: a `LimitShare`, or a relay to a remote one."""

    def connected(self, send: Send) -> None:
        """Called when a keeper is connected."""
        ...

    def received(self, message: FromKeeper) -> None:
        """Called with each message of the keeper."""
        ...

    def alone(self) -> None:
        """Called when there is no keeper."""
        ...

    def leave(self) -> None:
        """Called before an orderly disconnect; a last message can be sent."""
        ...


def endpoint_digest(address: str, key: str) -> str:
    """Return a digest of an address and a key that reveals neither."""
    return hashlib.sha256(f"{address}\0{key}".encode()).hexdigest()[:24]


def keepers_folder() -> Path:
    """Return the folder of sockets, private to the user.

    Raises:
        OSError: no such folder can be used.
    """
    parents = [os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"]  # noqa: S108  checked below
    folders = [Path(parent) / f"eval-console-{os.getuid()}" for parent in parents if parent and Path(parent).is_dir()]
    folder = next((folder for folder in folders if len(os.fsencode(folder)) <= _LONGEST), None)
    if folder is None:
        raise FileNotFoundError("no folder for sockets has a short enough path")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{folder} is not private to this user")
    return folder


class LocalKeepers:
    """Connections of this process to the machine's keepers. Belongs to one event loop."""

    def __init__(self, start_task: StartTask) -> None:
        """Start with no connections; `start_task` starts a named task and reports its failure."""
        self._start_task = start_task
        self._tasks: dict[asyncio.Task[None], Peer] = {}
        self._servers: dict[Path, _KeeperServer] = {}

    def connect(self, endpoint: str, peer: Peer) -> "asyncio.Task[None]":
        """Keep a peer connected to the keeper of an endpoint until the task is canceled."""
        task = self._start_task(self._keep_connected(endpoint, peer), f"keeper {endpoint}")
        self._tasks[task] = peer
        task.add_done_callback(self._tasks.pop)
        return task

    async def _keep_connected(self, endpoint: str, peer: Peer) -> None:
        try:
            path = keepers_folder() / endpoint
            while True:
                streams = await self._open(path)
                if streams is None:
                    await asyncio.sleep(_RETRY_S)
                    continue
                await _converse(*streams, peer)
                peer.alone()
        except OSError:  # no usable folder for sockets
            peer.alone()

    async def _open(self, path: Path) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter] | None":
        """Connect to the process that serves an endpoint, or become it; return None to try again."""
        with contextlib.suppress(FileNotFoundError, ConnectionError):
            return await asyncio.open_unix_connection(str(path))
        if path in self._servers or (lock := _take_lock(_lock_path(path))) is None:
            return None
        self._servers[path] = _KeeperServer(path, lock)
        await self._servers[path].open()
        return await asyncio.open_unix_connection(str(path))

    async def aclose(self) -> None:
        """Leave all keepers; other processes take over those served here."""
        tasks = list(self._tasks)
        for peer in self._tasks.values():
            peer.leave()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for server in self._servers.values():
            await server.close()
        self._servers.clear()


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: Peer) -> None:
    """Pass messages both ways until the connection ends, or until a keeper that was silent can be joined again."""
    is_connected = is_silent = False
    is_probed = True
    try:
        writer.write(_PROBE)
        while True:
            try:
                async with asyncio.timeout(None if is_silent else SILENT_S):
                    line = await reader.readline()
            except TimeoutError:
                if is_probed:
                    is_silent = True
                    peer.alone()
                else:
                    is_probed = True
                    writer.write(_PROBE)
                continue
            if not line or (is_silent and is_connected):
                return
            if not is_connected:
                is_connected, is_silent = True, False
                peer.connected(lambda message: writer.write(_encode(message) + b"\n"))
            is_probed = False
            if line != _PROBE:
                with contextlib.suppress(ValueError):
                    peer.received(_from_keeper(line))
    except (ConnectionError, asyncio.LimitOverrunError):
        pass
    finally:
        with contextlib.suppress(OSError):
            writer.close()


class _KeeperServer:
    """Serves one endpoint to all processes of this machine."""

    def __init__(self, path: Path, lock: int) -> None:
        self._path, self._lock = path, lock
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._serving: set[asyncio.Task[None] | None] = set()
        self._keeper = Keeper(self._send, time.monotonic())
        self._joined = 0
        self._timer: asyncio.TimerHandle | None = None
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, str(self._path))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving.add(task := asyncio.current_task())
        self._joined += 1
        number = self._joined
        self._writers[number] = writer
        try:
            while line := await reader.readline():
                if line == _PROBE:
                    writer.write(_PROBE)
                    continue
                with contextlib.suppress(ValueError):
                    self._wait_until(self._keeper.receive(number, _to_keeper(line), time.monotonic()))
        except (ConnectionError, asyncio.LimitOverrunError):
            pass
        finally:
            self._writers.pop(number, None)
            self._wait_until(self._keeper.lose(number, time.monotonic()))
            writer.close()
            self._serving.discard(task)

    def _send(self, number: int, message: FromKeeper) -> None:
        if (writer := self._writers.get(number)) is not None and not writer.is_closing():
            writer.write(_encode(message) + b"\n")

    def _wait_until(self, due: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None:
            delay = max(0.0, due - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._wait_until(self._keeper.tick(time.monotonic()))

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers.values()):
            writer.close()
        if serving := list(filter(None, self._serving)):
            await asyncio.wait(serving, timeout=_CLOSE_S)  # each reads end of file
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
            _lock_path(self._path).unlink(missing_ok=True)
        os.close(self._lock)


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _take_lock(path: Path) -> int | None:
    """Take a lock that is released with the process; return None if another process has it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), path.stat()):
            return lock
    os.close(lock)
    return None
