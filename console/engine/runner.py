"""The runner: one detached process that plays the runs of a queue one after another.

It holds no state of its own: the queue's file (`console.store.run_queue`) lists the remaining runs, their journals
record all progress, and engines are separate processes. So a killed runner, engine or machine loses nothing: `wake`
starts another runner, which continues with the first run of the queue.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from console.config.paths import WorkspacePaths
from console.core.fault import UsageError, reason_of
from console.engine.compute_target import ComputeTarget
from console.engine.process import detach, spawn_engine
from console.store.atomic import PRIVATE
from console.store.run_queue import Queued, RunQueue
from console.store.runs import RunFolder

_LOOK_EVERY_S = 0.5
_MOST_DEATHS = 2
"""Number of killed engines on one run after which the queue skips it."""

Notify = Callable[[str], None]


def wake(root: Path) -> bool:
    """Start a runner for the queue of a runs folder unless one is active; return whether one was started.

    Raises:
        UsageError: the process cannot be started, or the queue cannot be read.
    """
    queue = RunQueue(root)
    if not queue.entries() or queue.is_playing:
        return False
    try:
        queue.log_path.touch(PRIVATE)
        detach([sys.executable, "-m", "console", "runner", str(root)], queue.log_path)
    except OSError as error:
        text = f"the queue's runner cannot be started: {reason_of(error)}"
        raise UsageError(text, where=str(queue.log_path)) from None
    return True


def play_queue(root: Path, notify: Notify) -> None:
    """Play runs until the queue is empty.

    Raises:
        RunLocked: another runner is active.
        UsageError: the queue cannot be read or written.
    """
    queue, deaths = RunQueue(root), dict[str, int]()
    lock = queue.acquire()
    while (entry := queue.next_or_release(lock)) is not None:
        try:
            died = _play(RunFolder(root / entry.run), entry)
        except UsageError as error:
            notify(f"{entry.run}: {error}")
            died = False
        deaths[entry.run] = deaths.get(entry.run, 0) + died
        if not died or deaths[entry.run] >= _MOST_DEATHS:
            queue.remove(entry.run)


def _play(run: RunFolder, entry: Queued) -> bool:
    """Play one run to its end; return whether its engine was killed first.

    If an engine already plays the run, having outlived an earlier runner, waits for it.
    """
    while run.is_live:
        time.sleep(_LOOK_EVERY_S)
    if run.is_closed:
        return False
    process = spawn_engine(
        run,
        paths=WorkspacePaths(*(Path(path) if path else None for path in (entry.models, entry.data))),
        cwd=Path(entry.folder) if entry.folder and Path(entry.folder).is_dir() else None,
        target=ComputeTarget(entry.on, entry.workers),
    )
    return process.wait() < 0 and not run.is_closed
