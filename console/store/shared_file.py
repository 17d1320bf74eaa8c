"""The one way to change a file that several processes write: lock, read, change, replace.

The lock is on the folder: it leaves no file behind, and the kernel releases it when its holder ends in any way.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path

from console.core.fault import UsageError, os_errors_as
from console.store.atomic import PRIVATE, read_regular, write_atomically

PATIENCE_S = 5.0
_LOOK_EVERY_S = 0.01


def change_file(
    path: Path,
    change: Callable[[bytes | None], bytes],
    *,
    is_private: bool = False,
    failure: str = "cannot be written",
    hint: str = "",
) -> None:
    """Replace a file by what `change` makes of its content, while no other process changes it.

    A link stays one, and a file keeps its mode; folders are created.

    Args:
        path: the file.
        change: returns the new content, given the old one, or None without a file.
        is_private: True if only its owner may read it.
        failure: beginning of the message if the file cannot be read or written.
        hint: what to do then.

    Raises:
        UsageError: it cannot be read or written, or another process keeps the folder locked.
    """
    with os_errors_as(failure, where=path, hint=hint):
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target):
            try:
                before, mode = read_regular(target), target.stat().st_mode & 0o777
            except FileNotFoundError:
                before, mode = None, 0o644
            after = change(before)
            if after != before:
                write_atomically(target, after, mode=PRIVATE if is_private else mode)


@contextlib.contextmanager
def locked(path: Path) -> Generator[None]:
    """Lock a file's folder against other writers, waiting for them as long as they make progress.

    Raises:
        UsageError: a process has the lock and changes nothing; it may be stopped.
        OSError: the folder cannot be opened.
    """
    fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _acquire(fd, path)
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)  # processes forked meanwhile share the lock
        os.close(fd)


def _acquire(fd: int, path: Path) -> None:
    seen, last_change = _version(path), time.monotonic()
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if (now := _version(path)) != seen:
                seen, last_change = now, time.monotonic()
            if time.monotonic() - last_change > PATIENCE_S:
                raise _busy(fd, path) from None
            time.sleep(_LOOK_EVERY_S)
        except OSError:  # a network share without locks
            return
        else:
            return


def _version(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_ino, status.st_mtime_ns


def _busy(fd: int, path: Path) -> UsageError:
    holder = _holder(fd)
    who = f"process {holder}" if holder else "another process"
    hint = f"Continue or end {f'it (kill -CONT {holder})' if holder else 'it'}, then try again; nothing was changed."
    return UsageError(f"{who} has kept the folder locked for {PATIENCE_S:g} s", where=str(path), hint=hint)


def _holder(fd: int) -> str:
    """Return the number of the process that holds the lock; empty if the system does not tell."""
    ending = f":{os.fstat(fd).st_ino}"
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            parts = line.split()
            if parts[1] == "FLOCK" and parts[5].endswith(ending):
                return parts[4] if parts[4].isdecimal() and parts[4] != "0" else ""
    return ""
