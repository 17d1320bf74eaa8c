"""Processes of our own that outlive the terminal: engines, and the runner of the queue. Light, and knows no engine."""

import subprocess
import sys
from pathlib import Path

from console.core.fault import UsageError
from console.engine.compute_target import LOCAL, ComputeTarget
from console.store.atomic import open_private
from console.store.runs import RunFolder


def spawn_engine(
    run: RunFolder,
    *,
    retry: str = "none",
    only: tuple[str, ...] = (),
    models_path: Path | None = None,
    data_path: Path | None = None,
    cwd: Path | None = None,
    target: ComputeTarget = LOCAL,
) -> "subprocess.Popen[bytes]":
    """Start an engine on an existing run. What it says goes to engine.log of the run.

    Args:
        run: the run's folder.
        retry: which finished rollouts get a further attempt, a value of `queue.RetryScope`.
        only: restrict further attempts to these case ids.
        models_path: the models file to use; None: the usual one.
        data_path: the data folder to use; None: the usual ones.
        cwd: the folder to work in, where a `.env` may lie; None: this one.
        target: who plays its conversations.

    Raises:
        UsageError: the process cannot be started.
    """
    command = [sys.executable, "-m", "console", "engine", str(run.path), "--retry", retry]
    command += [
        part for path, flag in ((models_path, "--models"), (data_path, "--data")) if path for part in (flag, str(path))
    ]
    command += target.flags
    command += [part for case in only for part in ("--only", case)]
    try:
        return detach(command, run.log_path, cwd)
    except OSError as error:
        raise UsageError(f"the engine cannot be started: {error}", where=str(run.path)) from None


def detach(command: list[str], log_path: Path, cwd: Path | None = None) -> "subprocess.Popen[bytes]":
    """Start our own program so that it outlives the terminal; what it says is added to a log.

    Raises:
        OSError: the process cannot be started, or the log cannot be written.
    """
    with open_private(log_path) as log:
        return subprocess.Popen(  # noqa: S603  our own program with arguments of ours, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=cwd or Path.cwd(),
        )
