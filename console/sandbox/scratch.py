"""Scratch folders: each is removed with its worker, and what a killed engine left is swept by the next one."""

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_PREFIX = "eval-console-"


def make_scratch() -> str:
    """Make an empty folder for one worker; the name tells whose it is."""
    _remove_stale()
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")


def remove_scratch(folder: str) -> None:
    """Remove a worker's folder."""
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _remove_stale() -> None:
    """Remove, once per process, the user's folders whose engine is gone."""
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
