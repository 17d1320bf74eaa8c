"""The exclusive lock of a run: one engine at a time; the kernel releases it when the process ends in any way."""

import contextlib
import errno
import fcntl
import os
import socket
import sys
import time
from pathlib import Path
from types import TracebackType

import msgspec

from console.core.fault import Fault, FaultKind
from console.core.json_text import decode_as
from console.store.atomic import open_file, read_regular


class Holder(msgspec.Struct, frozen=True):
    """The process that holds a lock."""

    pid: int
    host: str
    since: float
    planned: int = 0
    """Number of items that it is going to process; 0 if unknown."""


class RunLocked(Exception):
    """Another engine has locked the run; `holder` names it, if known."""

    def __init__(self, holder: Holder | None) -> None:
        who = f"process {holder.pid} on {holder.host}" if holder else "another process"
        super().__init__(f"the run is already open in {who}")
        self.holder = holder


class RunLock:
    """Lock on a run folder, held from construction to `release`."""

    def __init__(self, path: Path) -> None:
        """Acquire the lock.

        Raises:
            RunLocked: another engine has it.
            Fault: the file cannot be opened (kind `disk`).
        """
        try:
            self._fd = open_file(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            is_other = error.errno in (errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENXIO)
            hint = (
                "Delete it: it only marks a run that is playing."
                if is_other
                else "Make the run's folder writable, or free some disk space; nothing that was finished is lost."
            )
            raise Fault(
                FaultKind.DISK, f"the run cannot be locked: {error.strerror or error}: {path}", hint=hint
            ) from error
        try:
            is_ours = _acquire(self._fd)
        except OSError as error:
            os.close(self._fd)
            raise Fault(
                FaultKind.DISK,
                f"the file system of {path.parent} does not support locks: {error.strerror or error}",
                hint="Keep runs on a local disk: --runs PATH.",
            ) from error
        if not is_ours:
            os.close(self._fd)
            raise RunLocked(read_holder(path))
        self._path = path
        self._holder = Holder(pid=os.getpid(), host=socket.gethostname(), since=time.time())
        self._write_holder()

    def announce(self, planned: int) -> None:
        """Tell other processes how many items are going to be processed."""
        self._holder = msgspec.structs.replace(self._holder, planned=planned)
        self._write_holder()

    def _write_holder(self) -> None:
        with contextlib.suppress(OSError):  # the lock is effective even if the disk is full
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, msgspec.json.encode(self._holder), 0)

    def successor(self) -> str:
        """Return the engine that took over the run despite the lock; network file systems may lock per machine only."""
        holder = read_holder(self._path)
        if holder is None or holder == self._holder or holder.since < self._holder.since:
            return ""
        return f"process {holder.pid} on {holder.host}"

    def current_path(self) -> Path:
        """Return the path of the lock, even if its folder was renamed or moved meanwhile.

        If the system does not report it, return the earlier path.
        """
        try:
            path = Path(os.fsdecode(_path_of(self._fd)))
            is_ours = os.path.samestat(path.stat(), os.fstat(self._fd))
        except (OSError, ValueError):
            return self._path
        return path if is_ours and not self._is_at(self._path) else self._path

    def _is_at(self, path: Path) -> bool:
        try:
            return os.path.samestat(path.stat(), os.fstat(self._fd))
        except OSError:
            return False

    def release(self) -> None:
        if os.getpid() == self._holder.pid:
            with contextlib.suppress(OSError):
                fcntl.flock(self._fd, fcntl.LOCK_UN)  # processes that suite code has forked share the lock
        os.close(self._fd)

    def __enter__(self) -> "RunLock":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _path_of(fd: int) -> bytes:
    """Return the path of an open file.

    Raises:
        OSError: the system does not report it.
    """
    if sys.platform == "darwin":
        return fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024)).partition(b"\0")[0]
    return os.fsencode(os.readlink(f"/proc/self/fd/{fd}"))


def _acquire(fd: int, tries: int = 5) -> bool:
    """Try to lock a few times, as readers that test for a live run hold a shared lock for microseconds."""
    for left in range(tries, 0, -1):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if left > 1:
                time.sleep(0.01)
        else:
            return True
    return False


def read_holder(path: Path) -> Holder | None:
    """Return the last holder recorded in the lock file, if readable."""
    try:
        return decode_as(read_regular(path), Holder)
    except (OSError, ValueError):
        return None


def is_held(path: Path) -> bool:
    """Return whether an engine holds the lock; the test takes a shared lock briefly, which `RunLock` tolerates."""
    try:
        fd = open_file(path, os.O_RDONLY)
    except OSError:  # none, another user's, which is reported when the run is read, or no file that an engine may hold
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # without locks no engine can play the run
        return False
    finally:
        os.close(fd)
    return False
