"""Starts engines, in the foreground or in a process that outlives the terminal. Signals act the same in both.

SIGINT       1st: let calls in flight finish; 2nd: abort them; 3rd: exit immediately (130)
SIGTERM      abort calls in flight, close in order (143)
SIGHUP       continue without the terminal
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.core.record import AnyRecord, Closed
from console.core.tally import RunFold
from console.engine.background import failures_reported, start_task, stop
from console.engine.engine import Engine
from console.engine.plan import Plan, PreparedRun, prepare
from console.engine.player import LocalPlayer, PlayerFactory
from console.engine.process import spawn_engine
from console.engine.queue import RetryScope
from console.engine.runner import wake
from console.engine.stall_limit import stall_limit
from console.llm.limits.keeper_socket import LocalKeepers
from console.llm.limits.limiter import LIMITERS
from console.store.run_queue import Queued, RunQueue
from console.store.runs import RunFolder, create_run
from console.suites.guard import files_of


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a foreground engine."""

    closed: Closed
    signal: int | None = None
    """Signal that ended it, if any."""


def start(plan: Plan) -> tuple[RunFolder, PreparedRun]:
    """Check a plan and create its run folder; no calls are made yet.

    Raises:
        UsageError: the plan is invalid, or the runs folder cannot be written.
    """
    prepared = prepare(plan)
    return create_run(prepared.runs_root, prepared.manifest), prepared


def spawn(plan: Plan) -> RunFolder:
    """Check a plan and play it in an engine process of its own.

    Raises:
        UsageError: the plan is invalid, or the engine cannot be started.
    """
    run, _ = start(plan)
    spawn_engine(run, models_path=plan.models_path, data_path=plan.data_path, target=plan.target)
    return run


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
    models, data = (str(path.absolute()) if path else "" for path in (plan.models_path, plan.data_path))
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
    engine = Engine(run, prepared, retry=retry, only=only, player=player, on_record=on_record, notify=on_signal)
    if on_start is not None:
        on_start(engine.fold)
    return asyncio.run(_play(engine, beside))


async def _play(engine: Engine, beside: Callable[[], Coroutine[Any, Any, None]] | None) -> Ending:
    loop, notify, seen = asyncio.get_running_loop(), engine.notify, list[int]()

    def interrupted() -> None:
        seen.append(signal.SIGINT)
        if len(seen) == 1:
            engine.end("stopped")
            notify(f"stopping: {engine.in_flight} in flight may finish; ctrl+c again aborts them")
        elif len(seen) == 2:
            engine.cancel()
            notify("aborting calls in flight; `resume` continues the run")
        else:
            os._exit(128 + signal.SIGINT)

    def terminated() -> None:
        seen.append(signal.SIGTERM)
        engine.cancel()

    def hung_up() -> None:
        notify("the terminal is gone; the run continues")

    loop.add_signal_handler(signal.SIGINT, interrupted)
    loop.add_signal_handler(signal.SIGTERM, terminated)
    loop.add_signal_handler(signal.SIGHUP, hung_up)
    with failures_reported(engine.fail):
        companion = start_task(beside(), "progress") if beside is not None else None
        try:
            async with limits_shared():
                with stall_limit(files_of(engine.prepared.suite)):
                    closed = await engine.run()
        finally:
            await stop(companion)
    return Ending(closed, seen[-1] if seen else None)


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
