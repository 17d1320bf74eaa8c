"""Starts processes that outlive the terminal: engines, and the runner of the queue. Does not import the engine."""

import subprocess
import sys
from pathlib import Path

from console.config.paths import DEFAULT_PATHS, WorkspacePaths
from console.core.fault import UsageError, reason_of
from console.engine.compute_target import LOCAL, ComputeTarget
from console.store.atomic import open_private
from console.store.runs import RunFolder


def spawn_engine(
    run: RunFolder,
    *,
    retry: str = "none",
    only: tuple[str, ...] = (),
    to_the_end: bool = False,
    paths: WorkspacePaths = DEFAULT_PATHS,
    cwd: Path | None = None,
    target: ComputeTarget = LOCAL,
) -> "subprocess.Popen[bytes]":
    """Start an engine on an existing run; its output goes to the run's engine.log.

    Args:
        run: the run's folder.
        retry: which finished rollouts get another attempt, a value of `queue.RetryScope`.
        only: restrict further attempts to these case ids.
        to_the_end: play everything, regardless of the looks' decisions.
        paths: where models and data are.
        cwd: working directory, which may hold a `.env`; None for the current one.
        target: compute target.

    Raises:
        UsageError: the process cannot be started.
    """
    command = [sys.executable, "-m", "console", "engine", str(run.path), "--retry", retry, *paths.flags, *target.flags]
    command += ["--to-the-end"] if to_the_end else []
    command += [part for case in only for part in ("--only", case)]
    try:
        return detach(command, run.log_path, cwd)
    except OSError as error:
        raise UsageError(f"the engine cannot be started: {reason_of(error)}", where=str(run.path)) from None


def detach(command: list[str], log_path: Path, cwd: Path | None = None) -> "subprocess.Popen[bytes]":
    """Start this program so that it outlives the terminal; its output is appended to a log.

    Raises:
        OSError: the process cannot be started, or the log cannot be written.
    """
    with open_private(log_path) as log:
        return subprocess.Popen(  # noqa: S603 - our own program and arguments, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=cwd or Path.cwd(),
        )
