"""The console's side of the simulators: one confined worker for a dataset, for scoring and for live conversations.

Scoring is an ordinary function, called from any thread, and play is a coroutine, so the worker lives on a loop of its
own, in a thread. Calls are made one after the other; a worker that was lost costs the call it was lost in and is
replaced for the next one. Whoever keeps state in it names the generation that state lives in, and is refused by a later
one (`StateGone`), to play it again.
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
"""A batch of findings holds whole file systems."""

_hosts: dict[Path, "SimulatorHost"] = {}
_opening = threading.Lock()


class StateGone(Exception):
    """The worker with a conversation's instances is lost; another one has taken its place."""


def host_of(dataset: Dataset) -> "SimulatorHost":
    """Return the one host of a dataset's simulators in this process.

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
    """End all workers; a later call starts anew."""
    while _hosts:
        _hosts.popitem()[1].close()


atexit.register(close_hosts)


class SimulatorHost:
    """Calls the worker program `simulators` of one dataset folder."""

    def __init__(self, folder: Path, simulators: Path, modules: dict[str, str]) -> None:
        self._folder = folder
        self._setup = {"folder": str(folder), "simulators": simulators.as_posix(), "modules": modules}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._turn = asyncio.Lock()
        self._worker: Worker | None = None
        self.generation = 0
        """Counts the workers so far; state kept in an earlier one is gone."""

    def call(self, operation: str, arguments: dict[str, Any], wall_s: float = _CALL_S) -> Any:
        """Call an operation that keeps no state and wait for its result.

        Raises:
            Fault: the worker was lost, took too long or refused; kind `sandbox`.
        """
        return self.result(self.submit(operation, arguments, wall_s))

    def submit(
        self, operation: str, arguments: dict[str, Any], wall_s: float = _CALL_S, *, generation: int | None = None
    ) -> "Future[Any]":
        """Begin a call from any thread; `generation` refuses it when the worker is another one by then."""
        calling = self._call(operation, arguments, wall_s, generation)
        return asyncio.run_coroutine_threadsafe(calling, self._running_loop())

    def result(self, waiting: "Future[Any]") -> Any:
        """Wait for a call that was submitted; raises as `call`."""
        try:
            return waiting.result(_START_S + 4 * _CALL_S)
        except LateError as error:
            waiting.cancel()
            raise Fault(FaultKind.SANDBOX, "the simulators did not answer") from error

    async def acall(self, operation: str, arguments: dict[str, Any], *, generation: int | None = None) -> Any:
        """Call an operation from a coroutine; raises as `call`.

        Raises:
            StateGone: the worker is not of the generation that was named.
        """
        return await asyncio.wrap_future(self.submit(operation, arguments, generation=generation))

    async def begin(self, key: str, entry: dict[str, Any]) -> int:
        """Make fresh instances for a conversation and return the generation they live in; raises as `call`."""
        beginning = self._begin(key, entry)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(beginning, self._running_loop()))

    def restart(self) -> None:
        """End the worker; the next call gets a new one."""
        if self._loop is not None and self._worker is not None:
            asyncio.run_coroutine_threadsafe(self._worker.kill(), self._loop).result(_END_S)

    def close(self) -> None:
        """End the worker and its loop."""
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
        async with self._turn:  # so that a lost worker is only the loss of the call that was made
            worker = await self._ready()
            if generation is not None and generation != self.generation:
                raise StateGone
            try:
                return await self._ask_worker(worker, operation, arguments, wall_s)
            except WorkerLost as error:
                if error.cause != "died":
                    raise
                if generation is not None:  # worn out by what came before, perhaps; played again it will show
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
        """Start a worker; the simulators are pinned code that sees literals only, so weaker confinement will do."""
        try:
            return await Worker.start(
                _PROGRAM, setup=self._setup, read_only=[self._folder], limits=_LIMITS, allow_weaker=True
            )
        except WorkerLost as error:
            hint = "Run `eval-console pull bfcl` again, and check that mpmath is installed."
            raise Fault(FaultKind.SANDBOX, error.message, hint=hint) from error
