"""Scratch folders of workers and of engines' sockets; the next engine removes those left behind by a killed one."""

import contextlib
import os
import shutil
import socket
import tempfile
import time
from functools import cache
from pathlib import Path

_PREFIX = "eval-console-"
SOCKET = "live.sock"
"""Name of an engine's socket in its folder."""
_YOUNG_S = 60.0


def make_scratch() -> str:
    """Create an empty folder, with the process id in its name."""
    _remove_stale()
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")


def remove_scratch(folder: str) -> None:
    """Remove a worker's folder."""
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _remove_stale() -> None:
    """Remove the user's scratch folders whose process has ended, once per process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_ours(folder) and _is_stale(folder):
                remove_scratch(str(folder))


def _is_stale(folder: Path) -> bool:
    """Return whether a folder's process has ended, and no process with another view of ids serves its socket."""
    owner, has_owner, _ = folder.name.removeprefix(_PREFIX).partition("-")
    if has_owner:
        return owner.isdigit() and not _is_alive(int(owner)) and not _is_served(folder / SOCKET)
    is_socket = os.listdir(folder) == [SOCKET]  # of earlier versions, which did not name the process
    is_young = time.time() - folder.stat().st_mtime < _YOUNG_S
    return is_socket and not is_young and not _is_served(folder / SOCKET)


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)  # a process that is stopped accepts nobody
        try:
            client.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True


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
