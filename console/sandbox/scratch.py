"""Scratch folders of workers, removed with them; the next engine removes those left behind by a killed engine."""

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_PREFIX = "eval-console-"


def make_scratch() -> str:
    """Create an empty folder for one worker, with the engine's process id in its name."""
    _remove_stale()
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")


def remove_scratch(folder: str) -> None:
    """Remove a worker's folder."""
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _remove_stale() -> None:
    """Remove the user's scratch folders whose engine has ended, once per process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)) and _is_ours(folder):
            remove_scratch(str(folder))


def _is_ours(folder: Path) -> bool:
    try:
        return folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
