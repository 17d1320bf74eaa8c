"""`SimulatorHost`: the client of the sandboxed simulator worker of one dataset, for scoring and live conversations.

The worker has its own event loop in a thread, as scoring calls it from any thread and `play` from coroutines. Calls are
sequential. A lost worker fails only the current call and is replaced for the next. Callers with state in the worker
pass its generation, and get `StateGone` from a later one, to replay their calls.
"""

import asyncio
import atexit
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from pathlib import Path
from typing import Any

from console.benchmarks.bfcl.data.dataset import Dataset
from console.core.fault import Fault, FaultKind
from console.sandbox.exchange import WorkerError, WorkerLost
from console.sandbox.limits import MEBIBYTE, WorkerLimits
from console.sandbox.worker import Worker

_PROGRAM = "console.benchmarks.bfcl.simulators.program"
_CALL_S = 30.0
_START_S = 60.0
_END_S = 10.0
_LIMITS = WorkerLimits(frame_bytes=64 * MEBIBYTE, call_bytes=64 * MEBIBYTE)
"""Limits of the worker; large, as a batch of findings contains whole file systems."""

_hosts: dict[Path, "SimulatorHost"] = {}
_opening = threading.Lock()


class StateGone(Exception):
    """The worker with a conversation's instances was lost and replaced."""


def host_of(dataset: Dataset) -> "SimulatorHost":
    """Return the host of a dataset's simulators, one per process.

    Raises:
        Fault: the dataset has no simulators.
    """
    if dataset.simulators is None:
        raise Fault(FaultKind.DATA, f"{dataset.folder.name} has no simulators", hint="Run `eval-console pull bfcl`.")
    folder = dataset.folder.resolve()
    with _opening:
        if folder not in _hosts:
            below = dataset.simulators.relative_to(dataset.folder)
            _hosts[folder] = SimulatorHost(folder, below, dataset.simulator_modules)
        return _hosts[folder]


def close_hosts() -> None:
    """End all workers; later calls start new ones."""
    while _hosts:
        _hosts.popitem()[1].close()


atexit.register(close_hosts)


class SimulatorHost:
    """Client of the worker program `simulators` for one dataset folder."""

    def __init__(self, folder: Path, simulators: Path, modules: dict[str, str]) -> None:
        self._folder = folder
        self._setup = {"folder": str(folder), "simulators": simulators.as_posix(), "modules": modules}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._turn = asyncio.Lock()
        self._worker: Worker | None = None
        self.generation = 0
        """Number of workers started so far; state of earlier ones is lost."""

    def call(self, operation: str, arguments: dict[str, Any], wall_s: float = _CALL_S) -> Any:
        """Call a stateless operation and wait for its result.

        Raises:
            Fault: the worker was lost, timed out or reported an error; kind `sandbox`.
        """
        return self.result(self.submit(operation, arguments, wall_s))

    def submit(
        self, operation: str, arguments: dict[str, Any], wall_s: float = _CALL_S, *, generation: int | None = None
    ) -> "Future[Any]":
        """Start a call from any thread; it fails if the worker's generation differs from `generation`."""
        calling = self._call(operation, arguments, wall_s, generation)
        return asyncio.run_coroutine_threadsafe(calling, self._running_loop())

    def result(self, waiting: "Future[Any]") -> Any:
        """Wait for a submitted call; raises like `call`."""
        try:
            return waiting.result(_START_S + 4 * _CALL_S)
        except LateError as error:
            waiting.cancel()
            raise Fault(FaultKind.SANDBOX, "the simulators did not answer") from error

    async def acall(self, operation: str, arguments: dict[str, Any], *, generation: int | None = None) -> Any:
        """Call an operation from a coroutine; raises like `call`.

        Raises:
            StateGone: the worker has a different generation.
        """
        return await asyncio.wrap_future(self.submit(operation, arguments, generation=generation))

    async def begin(self, key: str, entry: dict[str, Any]) -> int:
        """Create new instances for a conversation and return the worker's generation; raises like `call`."""
        beginning = self._begin(key, entry)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(beginning, self._running_loop()))

    def restart(self) -> None:
        """End the worker; the next call starts a new one."""
        if self._loop is not None and self._worker is not None:
            asyncio.run_coroutine_threadsafe(self._worker.kill(), self._loop).result(_END_S)

    def close(self) -> None:
        self.restart()
        with self._lock:
            loop, self._loop, self._worker = self._loop, None, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="simulators", daemon=True).start()
            return self._loop

    async def _begin(self, key: str, entry: dict[str, Any]) -> int:
        async with self._turn:
            await self._ask_worker(await self._ready(), "begin", {"key": key, "entry": entry}, _CALL_S)
            return self.generation

    async def _call(self, operation: str, arguments: dict[str, Any], wall_s: float, generation: int | None) -> Any:
        async with self._turn:  # so that a lost worker affects only one call
            worker = await self._ready()
            if generation is not None and generation != self.generation:
                raise StateGone
            try:
                return await self._ask_worker(worker, operation, arguments, wall_s)
            except WorkerLost as error:
                if error.cause != "died":
                    raise
                if generation is not None:  # earlier calls may have caused it; a replay will show
                    raise StateGone from error
                return await self._ask_worker(await self._ready(), operation, arguments, wall_s)

    async def _ask_worker(self, worker: Worker, operation: str, arguments: dict[str, Any], wall_s: float) -> Any:
        try:
            return await worker.call(operation, arguments, wall_s=wall_s)
        except WorkerError as error:
            raise Fault(FaultKind.SANDBOX, f"the simulators refused: {error}") from error

    async def _ready(self) -> Worker:
        if self._worker is None or self._worker.is_lost:
            self._worker = await self._start()
            self.generation += 1
        return self._worker

    async def _start(self) -> Worker:
        """Start a worker; a weaker sandbox is sufficient for pinned simulators that receive only literals."""
        try:
            return await Worker.start(
                _PROGRAM, setup=self._setup, read_only=[self._folder], limits=_LIMITS, allow_weaker=True
            )
        except WorkerLost as error:
            hint = "Run `eval-console pull bfcl` again, and check that mpmath is installed."
            raise Fault(FaultKind.SANDBOX, error.message, hint=hint) from error
