"""Start an engine: in a process of its own that outlives the terminal, or here in the foreground.

signal       in the foreground                               in a process of its own
SIGINT       1st: finish what is being answered; 2nd: give it up; 3rd: leave at once (130)      the same
SIGTERM      give up what is in flight, close in order (143)                                   the same
SIGHUP       the run goes on without the terminal                                              the same
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from console.core.fault import UsageError
from console.core.record import AnyRecord, Closed
from console.engine.engine import Engine
from console.engine.plan import Plan, Prepared, prepare
from console.engine.queue import Again
from console.store.runs import RunFolder, create_run


@dataclass(frozen=True, slots=True)
class Ending:
    """How a foreground engine came to its end."""

    closed: Closed
    signal: int | None = None
    """The signal that ended it, if one did."""


def start(plan: Plan) -> tuple[RunFolder, Prepared]:
    """Check a plan and make its run folder; nothing is asked yet.

    Raises:
        UsageError: the plan does not hold, or the runs folder cannot be written.
    """
    prepared = prepare(plan)
    return create_run(prepared.runs_root, prepared.manifest), prepared


def spawn(plan: Plan) -> RunFolder:
    """Check a plan and play it in an engine process of its own.

    Raises:
        UsageError: the plan does not hold, or the engine cannot be started.
    """
    run, _ = start(plan)
    spawn_engine(run, models_path=plan.models_path, data_path=plan.data_path)
    return run


def spawn_engine(
    run: RunFolder,
    *,
    again: Again = Again.NONE,
    only: tuple[str, ...] = (),
    models_path: Path | None = None,
    data_path: Path | None = None,
) -> int:
    """Start an engine on an existing run and return its process id. What it says goes to engine.log of the run.

    Raises:
        UsageError: the process cannot be started.
    """
    command = [sys.executable, "-m", "console", "engine", str(run.path), "--again", again.value]
    command += [
        part for path, flag in ((models_path, "--models"), (data_path, "--data")) if path for part in (flag, str(path))
    ]
    command += [part for case in only for part in ("--only", case)]
    try:
        with run.log_path.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  our own program with arguments of ours, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=Path.cwd(),
            )
    except OSError as error:
        raise UsageError(f"the engine cannot be started: {error}", where=str(run.path)) from None
    return process.pid


def run_in_foreground(
    run: RunFolder,
    prepared: Prepared,
    *,
    again: Again = Again.NONE,
    only: frozenset[str] = frozenset(),
    on_record: Callable[[AnyRecord], None] | None = None,
    on_signal: Callable[[str], None] | None = None,
) -> Ending:
    """Play a run in this process until it ends.

    Args:
        run: the run's folder.
        prepared: what `start` or `plan.reopen` looked up.
        again: which finished rollouts get a further attempt.
        only: restrict further attempts to these case ids.
        on_record: called with every record, for progress output.
        on_signal: called with a sentence when a signal changes what happens, and when the run has to wait.

    Raises:
        RunLocked: another engine plays this run.
        Fault: the disk refused to the end.
    """
    engine = Engine(run, prepared, again=again, only=only, on_record=on_record, say=on_signal)
    return asyncio.run(_play(engine))


async def _play(engine: Engine) -> Ending:
    loop, say, seen = asyncio.get_running_loop(), engine.say, list[int]()

    def interrupted() -> None:
        seen.append(signal.SIGINT)
        if len(seen) == 1:
            engine.end("stopped")
            say(f"stopping: {engine.in_flight} in flight may finish; once more gives them up")
        elif len(seen) == 2:
            engine.cancel()
            say("giving up what is in flight; it can be resumed")
        else:
            os._exit(128 + signal.SIGINT)

    def terminated() -> None:
        seen.append(signal.SIGTERM)
        engine.cancel()

    def hung_up() -> None:
        say("the terminal is gone; the run goes on")

    loop.add_signal_handler(signal.SIGINT, interrupted)
    loop.add_signal_handler(signal.SIGTERM, terminated)
    loop.add_signal_handler(signal.SIGHUP, hung_up)
    closed = await engine.run()
    return Ending(closed, seen[-1] if seen else None)
