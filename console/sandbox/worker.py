"""A disposable worker process that runs untrusted code in confinement: start, call, kill.

    worker = await Worker.start("console.sandbox.programs.objects", setup={…}, read_only=[folder])
    result = await worker.call("invoke", {…}, on_tell=show, on_ask=answer)
    await worker.kill()

The worker gets no environment, no key, no network and no files except the interpreter and those listed. It speaks JSON
frames on one socket. A call that takes too long, dies or breaks the protocol ends the worker with `WorkerLost`.
"""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from console.core.fault import reason_of
from console.sandbox.exchange import Exchange, OnAsk, OnTell, WorkerError, WorkerLost
from console.sandbox.frames import BadFrame, pack, read_frame
from console.sandbox.launch import find_seatbelt, import_paths, open_paths, readable_paths, spawn
from console.sandbox.level import Level, read_level
from console.sandbox.limits import WorkerLimits
from console.sandbox.scratch import make_scratch, remove_scratch


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers of confinement to use; all, except in tests of single layers."""

    namespaces: bool = True
    mounts: bool = True
    landlock: int = 1000
    """Newest Landlock version to use; 0 disables Landlock."""
    seccomp: bool = True
    seatbelt: str = field(default_factory=find_seatbelt)
    """Program that starts the worker under a profile of macOS; empty elsewhere."""


class Worker:
    """One confined process hosting one program, for one caller at a time."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        scratch: str,
        limits: WorkerLimits,
    ) -> None:
        """Wrap a started process; use `Worker.start`."""
        self._process = process
        self._reader, self._writer = streams
        self._scratch = scratch
        self._limits = limits
        self._busy = asyncio.Lock()
        self._lost: WorkerLost | None = None
        self.level = Level()
        """Confinement in force."""
        self.operations: tuple[str, ...] = ()
        """Names of the program's operations."""

    @classmethod
    async def start(
        cls,
        program: str,
        *,
        setup: Any = None,
        read_only: Sequence[str | Path] = (),
        hidden: Sequence[str | Path] = (),
        limits: WorkerLimits | None = None,
        allow_weaker: bool = False,
        layers: Layers | None = None,
    ) -> "Worker":
        """Start a worker and wait until its program is ready.

        Args:
            program: module of this package with `start(port, setup)`.
            setup: JSON value handed to the program.
            read_only: files and folders it may read.
            hidden: files and folders it may not read, wherever they are; their names can be listed.
            limits: caps; the defaults if None.
            allow_weaker: accept a confinement that leaves files, network or processes open.
            layers: layers to omit, for tests.

        Raises:
            UsageError: the confinement is too weak and `allow_weaker` is not set.
            WorkerLost: the worker could not be started, or its program failed to load.
        """
        limits = limits or WorkerLimits()
        scratch = make_scratch()
        ours, theirs = socket.socketpair()
        try:
            process = await spawn(theirs, scratch)
            ours.setblocking(False)
            streams = await asyncio.open_unix_connection(sock=ours, limit=limits.frame_bytes + 4)
        except OSError as error:
            ours.close()
            remove_scratch(scratch)
            raise WorkerLost("start", f"a worker process could not be started: {reason_of(error)}") from None
        finally:
            theirs.close()
        worker = cls(process, streams, scratch, limits)
        try:
            await worker._handshake(worker._first_frame(program, setup, (read_only, hidden), layers or Layers()))
            if not allow_weaker:
                worker.level.require_enough()
        except BaseException:
            await worker.kill()
            raise
        return worker

    @property
    def pid(self) -> int:
        """Process id of the keeper, the process that the engine started."""
        return self._process.pid

    @property
    def is_lost(self) -> bool:
        """True if the worker has ended."""
        return self._lost is not None

    async def call(
        self,
        operation: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_tell: OnTell | None = None,
        on_ask: OnAsk | None = None,
        new_span: Collection[str] = (),
        wall_s: float | None = None,
    ) -> Any:
        """Call an operation of the program and return its JSON result.

        Args:
            operation: one of `operations`.
            arguments: JSON object.
            on_tell: receives the program's messages.
            on_ask: answers the program's questions. An exception ends the worker and propagates.
            new_span: kinds of questions whose answer resets wall time, bytes and messages.
            wall_s: wall time in place of the limits'.

        Raises:
            WorkerError: the operation raised.
            WorkerLost: the worker was too slow, died, or broke the protocol.
        """
        async with self._busy:
            if self._lost:
                raise self._lost
            exchange = Exchange(self._limits, on_tell, on_ask, wall_s or self._limits.call_s, new_span)
            try:
                await self._send({"call": operation, "arguments": dict(arguments or {})})
                frame = await self._run_exchange(exchange)
            except BaseException as error:
                await self.kill(error if isinstance(error, WorkerLost) else None)
                raise
        if "error" in frame:
            raise WorkerError(*_error_fields(frame["error"]))
        return frame.get("result")

    async def kill(self, why: WorkerLost | None = None) -> None:
        """End the worker and everything it started, immediately; may be called repeatedly."""
        if self._lost is None:
            self._lost = why or WorkerLost("killed", "the worker was terminated")
        self._writer.close()
        if self._process.returncode is None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    await asyncio.shield(self._process.wait())
            if self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
            await self._process.wait()
        remove_scratch(self._scratch)

    async def _handshake(self, first_frame: dict[str, Any]) -> None:
        await self._send(first_frame)
        exchange = Exchange(self._limits, None, None, self._limits.start_s, ())
        first = await self._run_exchange(exchange)
        if "level" not in first:
            raise WorkerLost("start", f"the worker could not be confined: {_error_text(first)}")
        self.level = read_level(first["level"])
        answer = await self._run_exchange(exchange)
        if "failed" in answer:
            message = f"the worker's program did not load: {_error_text(answer)}"
            raise WorkerLost("start", message, type_name=_error_fields(answer["failed"])[0])
        self.operations = tuple(str(name) for name in cast("list[Any]", answer.get("ready") or ()))

    def _first_frame(
        self, program: str, setup: Any, files: tuple[Sequence[str | Path], Sequence[str | Path]], layers: Layers
    ) -> dict[str, Any]:
        paths = import_paths()
        listed, readable = open_paths([*readable_paths(paths), *files[0]], files[1])
        return {
            "program": program,
            "setup": setup,
            "paths": paths,
            "listed": listed,
            "readable": readable,
            "scratch": self._scratch,
            "limits": self._limits.as_json(),
            "layers": asdict(layers),
        }

    async def _run_exchange(self, exchange: Exchange) -> dict[str, Any]:
        """Read frames until one is an answer, handling messages and questions meanwhile."""
        while True:
            frame = await self._read(exchange)
            if "tell" in frame:
                exchange.tell(str(frame["tell"]), frame.get("data"))
            elif "ask" in frame:
                await self._send(await exchange.answer(str(frame["ask"]), frame.get("data")))
            else:
                return frame

    async def _read(self, exchange: Exchange) -> dict[str, Any]:
        try:
            async with asyncio.timeout(exchange.left_s):
                frame, size = await read_frame(self._reader, self._limits.frame_bytes)
        except TimeoutError:
            raise WorkerLost("timeout", f"the code ran longer than {exchange.wall_s:g} s and was terminated") from None
        except BadFrame as error:
            raise WorkerLost("protocol", f"the worker sent {error}; it was terminated") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise await self._exit_reason() from None
        exchange.count(size)
        return frame

    async def _send(self, frame: dict[str, Any]) -> None:
        try:
            self._writer.write(pack(frame))
            await self._writer.drain()
        except (ConnectionError, RuntimeError):
            raise await self._exit_reason() from None

    async def _exit_reason(self) -> WorkerLost:
        """Return the exit status of the process, after giving it a moment to end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await asyncio.shield(self._process.wait())
        code = self._process.returncode
        if code is None:
            return WorkerLost("died", "the worker closed its connection")
        number = -code if code < 0 else code - 128
        if number <= 0:
            return WorkerLost("died", f"the worker exited with code {code}")
        words = f"the worker was terminated by signal {number}{_SIGNALS.get(number, '')}"
        return WorkerLost("died", words, was_killed=number == signal.SIGKILL)


_SIGNALS = {24: " (processor time used up)", 25: " (file too large)", 9: " (killed)", 11: " (crashed)"}


def _error_text(frame: dict[str, Any]) -> str:
    return ": ".join(_error_fields(frame.get("failed")))


def _error_fields(error: Any) -> tuple[str, str]:
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    return str(fields.get("type", "Error"))[:200], str(fields.get("message", ""))[:4000]
