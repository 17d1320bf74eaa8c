"""Starts engines, in the foreground or in a process that outlives the terminal. Signals act the same in both.

SIGINT       1st: let calls in flight finish; 2nd: abort them, and exit within 2 s (130); 3rd: exit immediately
SIGTERM      abort calls in flight, close in order, and exit within 15 s (143)
SIGHUP       continue without the terminal

The limits hold even if the loop is busy or stuck: they are kept by an OS timer (see `stall_limit`).
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from console.config.paths import WorkspacePaths
from console.core.record import AnyRecord, Closed
from console.core.tally import RunFold
from console.engine.background import failures_reported, start_task, stop
from console.engine.engine import Engine
from console.engine.engine_loop import EngineLoop
from console.engine.plan import Plan, PreparedRun, prepare
from console.engine.player import LocalPlayer, PlayerFactory
from console.engine.process import spawn_engine
from console.engine.queue import RetryScope
from console.engine.race import RunningEngine, line_up
from console.engine.regrade import prepare_regrade
from console.engine.runner import wake
from console.engine.stall_limit import StallLimit
from console.llm.limits.keeper_socket import LocalKeepers
from console.llm.limits.limiter import LIMITERS
from console.store.run_queue import Queued, RunQueue
from console.store.runs import RunFolder, create_run
from console.suites.code_place import files_of

ABORT_S = 1.5
"""Seconds allowed for an orderly exit after a second SIGINT."""
CLOSE_S = 15.0
"""Seconds allowed for an orderly exit after a SIGTERM."""


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a foreground engine."""

    closed: Closed
    folder: RunFolder
    """The run's folder, which may have been renamed during the run."""
    signal: int | None = None
    """Signal that ended it, if any."""


def start(plan: Plan) -> tuple[RunFolder, PreparedRun]:
    """Check a plan and create its run folder; no calls are made yet.

    Raises:
        UsageError: the plan is invalid, or the runs folder cannot be written.
    """
    prepared = prepare(plan)
    return create_run(prepared.runs_root, prepared.manifest), prepared


def spawn(plans: Sequence[Plan]) -> list[RunFolder]:
    """Check plans and play each in an engine process of its own.

    Raises:
        UsageError: a plan is invalid (nothing is started then), or an engine cannot be started.
    """
    return [run for run, _ in spawn_prepared(line_up([prepare(plan) for plan in plans]), plans)]


def spawn_prepared(prepared_runs: Sequence[PreparedRun], plans: Sequence[Plan]) -> list[RunningEngine]:
    """Play prepared plans, each in an engine process of its own.

    Raises:
        UsageError: the runs folder cannot be written, or an engine cannot be started.
    """
    runs = [create_run(prepared.runs_root, prepared.manifest) for prepared in prepared_runs]
    return [
        (run, spawn_engine(run, paths=plan.paths, target=plan.target)) for run, plan in zip(runs, plans, strict=True)
    ]


def spawn_regrade(run: RunFolder, *, judge: str, paths: WorkspacePaths) -> RunFolder:
    """Grade a run again in an engine process of its own (see `regrade`).

    Raises:
        UsageError: the run cannot be graded again, or the engine cannot be started.
    """
    prepared = prepare_regrade(run, judge=judge, paths=paths)
    graded = create_run(prepared.runs_root, prepared.manifest)
    spawn_engine(graded, paths=paths)
    return graded


def enqueue(plans: Sequence[Plan]) -> list[RunFolder]:
    """Check all plans, create their run folders, append them to the queue and make sure a runner plays it.

    Raises:
        UsageError: a plan is invalid (nothing is queued then), or the runs folder cannot be written.
    """
    prepared_runs = [prepare(plan) for plan in plans]
    runs = [create_run(prepared.runs_root, prepared.manifest) for prepared in prepared_runs]
    for run, plan in zip(runs, plans, strict=True):
        RunQueue(run.path.parent).add([_entry(run, plan)])
    for root in {run.path.parent for run in runs}:
        wake(root)
    return runs


def _entry(run: RunFolder, plan: Plan) -> Queued:
    models, data = (str(path.absolute()) if path else "" for path in (plan.paths.models, plan.paths.data))
    target = plan.target
    return Queued(
        run=run.name,
        at=time.time(),
        models=models,
        data=data,
        folder=str(Path.cwd()),
        on=target.on,
        workers=target.workers,
    )


def run_in_foreground(
    run: RunFolder,
    prepared: PreparedRun,
    *,
    retry: RetryScope = RetryScope.NONE,
    only: frozenset[str] = frozenset(),
    to_the_end: bool = False,
    player: PlayerFactory = LocalPlayer,
    on_start: Callable[[RunFold], None] | None = None,
    on_record: Callable[[AnyRecord], None] | None = None,
    on_signal: Callable[[str], None] | None = None,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> Ending:
    """Play a run in this process until it ends.

    Args:
        run: the run's folder.
        prepared: result of `start` or `plan.reopen`.
        retry: which finished rollouts get another attempt.
        only: restrict further attempts to these case ids.
        to_the_end: play everything, regardless of the looks' decisions.
        player: factory of the player; see `player_factory.player_factory`.
        on_start: called before the run starts, with its counts, which are updated in place.
        on_record: called with every record, for progress output.
        on_signal: called with a sentence after a signal, and when the run has to wait.
        beside: background task in the engine's loop, cancelled when the run ends.

    Raises:
        RunLocked: another engine plays this run.
        UsageError: the player refuses the run; the reason is also in the run's summary.
        Fault: records could not be written until the end.
        Exception: an unexpected error in the background; the run was ended at once and can be resumed.
    """
    engine = Engine(
        run,
        prepared,
        retry=retry,
        only=only,
        to_the_end=to_the_end,
        player=player,
        on_record=on_record,
        notify=on_signal,
    )
    if on_start is not None:
        on_start(engine.host.fold)
    loop = EngineLoop(prepared.suite, engine.host.notify)
    limit = StallLimit(loop.loop, files_of(prepared.suite), engine.host.notify)
    with limit.watching():
        return loop.run(_play(engine, limit, beside))


class _Signals:
    """Acts on signals: in order, in the event loop, and with a time limit that holds even if the loop is stuck."""

    def __init__(self, engine: Engine, limit: StallLimit) -> None:
        self._engine, self._limit = engine, limit
        self._interrupts = 0
        self.last: int | None = None
        """Last signal that ends the run."""

    @contextlib.contextmanager
    def handled(self) -> Generator[None]:
        """Handle signals in the running loop while the block runs."""
        loop = asyncio.get_running_loop()
        in_order = {
            signal.SIGINT: self._interrupted,
            signal.SIGTERM: self._terminated,
            signal.SIGHUP: self._hung_up,
        }
        earlier = {number: signal.getsignal(number) for number in in_order}
        for number, act in in_order.items():
            loop.add_signal_handler(number, act)
        # Python calls these between two instructions, even if the loop is busy; the others are called by the loop.
        signal.signal(signal.SIGINT, self._interrupt_at_once)
        signal.signal(signal.SIGTERM, self._terminate_at_once)
        try:
            yield
        finally:
            for number, handler in earlier.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

    def _interrupt_at_once(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._interrupts += 1
        if self._interrupts == 2:
            self._limit.leave_within(ABORT_S, 128 + number)
        elif self._interrupts > 2:
            os._exit(128 + number)

    def _terminate_at_once(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._limit.leave_within(CLOSE_S, 128 + number)

    def _interrupted(self) -> None:
        engine, is_first = self._engine, self.last is None
        self.last = signal.SIGINT
        if is_first:
            engine.host.end("stopped")
            engine.host.notify(f"stopping: {engine.in_flight} in flight may finish; ctrl+c again aborts them")
        else:
            self._limit.leave_within(ABORT_S, 128 + signal.SIGINT)
            engine.host.cancel()
            engine.host.notify("aborting calls in flight; `resume` continues the run")

    def _terminated(self) -> None:
        self.last = signal.SIGTERM
        self._engine.host.cancel()

    def _hung_up(self) -> None:
        self._engine.host.notify("the terminal is gone; the run continues")


async def _play(engine: Engine, limit: StallLimit, beside: Callable[[], Coroutine[Any, Any, None]] | None) -> Ending:
    signals = _Signals(engine, limit)
    with failures_reported(engine.fail):
        companion = start_task(beside(), "progress") if beside is not None else None
        try:
            async with limits_shared():
                with signals.handled():
                    closed = await engine.run()
        finally:
            await stop(companion)
    return Ending(closed, engine.host.folder, signals.last)


@contextlib.asynccontextmanager
async def limits_shared() -> AsyncGenerator[None]:
    """Share the limits set in models.toml with all engines on this machine while the block runs."""
    keepers = LocalKeepers(start_task)
    LIMITERS.share_with_others = lambda endpoint, share: keepers.connect(endpoint, share) and None
    try:
        yield
    finally:
        LIMITERS.share_with_others = None
        await keepers.aclose()
