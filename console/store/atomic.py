"""Atomic file replacement that survives a power cut, changes of shared files, and private files and folders.

A file that several processes change is changed in one way: `change_file`. Its lock is on the folder: it leaves no file
behind, and the kernel releases it when its holder ends in any way.
"""

import contextlib
import errno
import fcntl
import io
import os
import stat
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO

from console.core.fault import UsageError, os_errors_as
from console.store.durable import sync_file, sync_folder

PRIVATE = 0o600
"""File mode of everything in a run: only the owner can read prompts and answers, regardless of the umask."""
PRIVATE_FOLDER = 0o700
_LARGEST = 1 << 30
"""Maximum size of a file that is read at once."""
PATIENCE_S = 5.0
"""Seconds for which a writer waits for one that makes no progress."""
_LOOK_EVERY_S = 0.01


def write_atomically(path: Path, *data: bytes, mode: int = 0o644, is_derived: bool = False) -> None:
    """Replace `path` by `data`, given in parts: write a temporary file next to it, sync, rename, sync the folder.

    Derived files are not synced: readers verify them and rebuild those damaged by a power cut.

    Raises:
        OSError: writing failed and the old file is untouched, or the new file may not be durable.
    """
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(data)
            file.flush()
            set_mode(fd, mode)
            if not is_derived:
                sync_file(fd)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if not is_derived:
        sync_folder(path.parent)


def change_file(
    path: Path,
    change: Callable[[bytes | None], bytes],
    *,
    is_private: bool = False,
    failure: str = "cannot be written",
    hint: str = "",
) -> None:
    """Replace a file by what `change` makes of its content, while no other process changes it.

    A link stays one, but gives way to a private file; a file keeps its mode; folders are created.

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
        # `resolve` raises no OSError for links in a circle.
        target = path if is_private else Path(os.path.realpath(path))
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


def open_file(path: Path, flags: int) -> int:
    """Open an ordinary file and return its descriptor: the only way to open a file of a run.

    A device or a pipe might deliver endless bytes, or block forever. A file that is made if missing is made in its own
    folder: a link in a folder that somebody else has packed may lead anywhere.

    Raises:
        OSError: it cannot be opened, or is not an ordinary file.
    """
    if flags & os.O_CREAT:
        flags |= os.O_NOFOLLOW
    fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise OSError(errno.EINVAL, "it is not an ordinary file", str(path))


def open_regular(path: Path) -> BinaryIO:
    """Open an ordinary file for reading.

    Raises:
        OSError: it cannot be opened, or is not an ordinary file.
    """
    return os.fdopen(open_file(path, os.O_RDONLY), "rb")


def read_regular(path: Path) -> bytes:
    """Return the content of an ordinary file.

    Raises:
        OSError: it cannot be read, is not an ordinary file, or would fill the memory.
    """
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > _LARGEST:
            raise OSError(errno.EFBIG, f"it is larger than {_LARGEST >> 30} GiB", str(path))
        return file.read()


def read_regular_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """Return the text of an ordinary file, with the usual line ends.

    Raises:
        OSError: see `read_regular`.
        UnicodeDecodeError: it has another encoding.
    """
    return io.TextIOWrapper(io.BytesIO(read_regular(path)), encoding).read()


def write_private(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Write a file that only its owner can read.

    Raises:
        OSError: not all of it could be written.
    """
    fd = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(fd, "wb") as file:
        set_mode(fd, PRIVATE)
        file.write(data)
        file.flush()
        if sync:
            sync_file(fd)


def open_private(path: Path) -> BinaryIO:
    """Open a file for reading and appending; a new one is readable only by its owner.

    Raises:
        OSError: the file cannot be opened.
    """
    fd = open_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    return os.fdopen(fd, "a+b")


def create_private(path: Path) -> BinaryIO:
    """Open an empty file for writing that only its owner can read, replacing any file of that name.

    Raises:
        OSError: the file cannot be opened.
    """
    fd = open_file(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    return os.fdopen(fd, "w+b")


def make_private_folder(path: Path) -> None:
    """Create a folder that only its owner can enter, and make its name durable.

    Raises:
        OSError: the folder cannot be created, or exists (FileExistsError).
    """
    path.mkdir(mode=PRIVATE_FOLDER)
    set_mode(path, PRIVATE_FOLDER)  # the umask may have removed the owner's rights
    sync_folder(path.parent)


def set_mode(place: int | Path, mode: int) -> None:
    """Set the mode of an open file or a folder; if that is refused, the actual rights must not exceed it.

    Some file systems and policies refuse it, and files are created with few rights in the first place.

    Raises:
        OSError: others could read it.
    """
    try:
        os.chmod(place, mode)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOTSUP):
            raise
        if os.stat(place).st_mode & 0o777 & ~mode:
            text = "the mode of files cannot be set there (chmod is refused), so other users could read them"
            raise OSError(error.errno, text) from error
