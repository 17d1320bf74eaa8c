"""The append-only journal of a run: complete lines in order, readable while it grows.

Rules: one writer (see `lock`); one `write` per line, rolled back if it falls short, or else terminated as a line of its
own, so that a full disk never joins two records; the torn tail of a killed writer is set aside on open, never deleted
and never silently read; data left unconfirmed by a failed sync is written again before it counts.
"""

import contextlib
import errno
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import msgspec

from console.core.fault import Fault, FaultKind, UsageError
from console.core.record import AnyRecord
from console.store.atomic import PRIVATE, open_file, open_regular, read_regular, set_mode, write_private
from console.store.durable import sync_data, sync_file, sync_folder
from console.store.journal_file import open_journal, read_span, unpack_journal
from console.store.journal_line import SESSION_HEAD, BadLine, decode, encode

RecordT = TypeVar("RecordT")
PIECE_BYTES = 1 << 20
_LAST_BYTES = 256
_OTHER_FILE = "it is a link to, or another name of, another file, which would be changed; replace it by a copy"


class Damage(msgspec.Struct, frozen=True):
    """An unreadable part of a journal."""

    line: int
    """Line number from 1."""
    why: str
    is_newer: bool = False
    """True for a complete line written by a newer version of this program."""


class JournalWriter:
    """The only writer of a journal. Open it only while holding the run's lock."""

    def __init__(self, path: Path) -> None:
        """Open for appending, set a torn tail aside, and rewrite what a failed sync left unconfirmed.

        An archived journal becomes a plain file first.

        Raises:
            Fault: the file cannot be opened or repaired (kind `disk`).
        """
        self.path = path
        self._owner = os.getpid()
        self.torn: Path | None = None
        self._unsynced_path = unsynced_path(path)
        """Marker file that exists after a failed sync and contains the offset of the first unconfirmed byte."""
        self._unsynced: deque[bytes] = deque()
        """Data written since the last good sync, rewritten if the next sync fails."""
        self._syncing = threading.Lock()
        self._fragment = b""
        """Beginning of a line that was written in part and could not be removed."""
        self.is_unconfirmed = False
        """True if the last sync failed."""
        try:
            unpack_journal(path)
            self._fd, self.torn = open_whole(path)
            self.size = os.fstat(self._fd).st_size
            self._synced = self.size
            self._read_unsynced_mark()
        except OSError as error:
            raise _disk_fault(path, error) from error

    def _read_unsynced_mark(self) -> None:
        """Treat data that an earlier writer failed to sync as unsynced, so that the next sync rewrites it."""
        try:
            first = int(read_regular(self._unsynced_path))
        except FileNotFoundError:
            return
        except ValueError:
            first = 0  # the mark itself is damaged, so the whole journal is unconfirmed
        first = min(first, self.size)
        with open_regular(self.path) as file:
            file.seek(first)
            self._unsynced.append(file.read())
        self._synced, self.is_unconfirmed = first, True

    def append(self, record: AnyRecord) -> int:
        """Append one record and return the journal's new size in bytes.

        Raises:
            Fault: writing failed (kind `disk`); later records never join the remains of this one.
        """
        if os.getpid() != self._owner:  # a suite's code has forked, and its child came back here
            os._exit(70)
        line = encode(record)
        try:
            self._end_fragment()
            written = os.write(self._fd, line)
            if written != len(line):
                written += os.write(self._fd, line[written:])
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with contextlib.suppress(OSError):  # retried before the next line
                self._fragment = os.pread(self._fd, os.fstat(self._fd).st_size - self.size, self.size)
                self._roll_back()
            raise _disk_fault(self.path, error) from error
        self._add(line)
        return self.size

    def _add(self, data: bytes) -> None:
        self._unsynced.append(data)
        self.size += len(data)

    def _roll_back(self) -> None:
        if self._fragment:
            os.ftruncate(self._fd, self.size)
            self._fragment = b""

    def _end_fragment(self) -> None:
        """Truncate the rest of a failed line or, if the file can only grow, terminate it as a line of its own."""
        try:
            self._roll_back()
        except OSError:
            if not os.write(self._fd, b"\n"):
                raise
            fragment, self._fragment = self._fragment, b""
            self._add(fragment + b"\n")
            with contextlib.suppress(OSError):  # a copy: the fragment stays in the journal as a damaged line
                set_aside(self.path, fragment)

    @property
    def is_synced(self) -> bool:
        """True if everything appended has reached the disk."""
        return self._synced == self.size and not self.is_unconfirmed

    @property
    def unsynced_bytes(self) -> int:
        """Bytes written since the last good sync."""
        return self.size - self._synced

    @property
    def is_deleted(self) -> bool:
        """True if the file was unlinked, so that its data is lost when it is closed."""
        return os.fstat(self._fd).st_nlink == 0

    @property
    def is_altered(self) -> bool:
        """True if the file's length differs from what was written, so another program has shortened or extended it."""
        return os.fstat(self._fd).st_size != self.size + len(self._fragment)

    def sync(self) -> None:
        """Make everything appended so far survive a power cut; may be called from another thread.

        After a failed sync the kernel marks the pages clean although they may not be on the disk, so the next sync
        succeeds without writing them. Therefore everything since the last good sync is rewritten in place before the
        next one; until then none of it counts as durable.

        Raises:
            Fault: the sync failed (kind `disk`).
        """
        with self._syncing:
            pieces = len(self._unsynced)  # read once: another thread may append meanwhile
            size = self._synced + sum(len(self._unsynced[number]) for number in range(pieces))
            try:
                if self.is_unconfirmed:
                    self._write_again(b"".join(self._unsynced[number] for number in range(pieces)))
                sync_data(self._fd)
            except OSError as error:
                self._mark_unconfirmed()
                raise _sync_fault(self.path, error) from error
            except BaseException:
                self._mark_unconfirmed()
                raise
            for _ in range(pieces):
                self._unsynced.popleft()
            self._synced = size
            if self.is_unconfirmed:
                self.is_unconfirmed = False
                with contextlib.suppress(OSError):  # the mark stays, and the next writer rewrites
                    self._unsynced_path.unlink(missing_ok=True)

    def _write_again(self, data: bytes) -> None:
        """Rewrite unconfirmed bytes in place; readers see no change."""
        fd = open_file(self.path, os.O_WRONLY)  # without O_APPEND
        try:
            if not os.path.sameopenfile(fd, self._fd):
                raise OSError(errno.ESTALE, "another file has its name")
            place = self._synced
            while data:
                written = os.pwrite(fd, data, place)
                place, data = place + written, data[written:]
        finally:
            os.close(fd)

    def _mark_unconfirmed(self) -> None:
        """Record the offset of the first unconfirmed byte, for the process that resumes the run."""
        if not self.is_unconfirmed:
            self.is_unconfirmed = True
            with contextlib.suppress(OSError):
                write_private(self._unsynced_path, b"%d" % self._synced)

    def retract(self, record: AnyRecord) -> bool:
        """Remove the last record if it equals this one and was never synced; return whether it was removed."""
        line = encode(record)
        if self.is_synced or not self._unsynced or self._unsynced[-1] != line:
            return False
        try:
            os.ftruncate(self._fd, self.size - len(line))
        except OSError:
            return False
        self.size -= len(self._unsynced.pop())
        return True

    def close(self) -> None:
        """Sync if necessary, and close.

        Raises:
            Fault: the sync failed, so data since the last good sync may not be on the disk (kind `disk`).
        """
        try:
            if not self.is_synced:
                self.sync()
        finally:
            with contextlib.suppress(OSError):  # synced data is safe even if closing fails
                os.close(self._fd)


class JournalReader:
    """Reads a journal from its start and continues as it grows."""

    def __init__(self, path: Path, mark: int = 0) -> None:
        """Read from the start; `mark` is an additional offset up to which to compute a checksum."""
        self.path = path
        self.offset = 0
        self.lines = 0
        self.damages: list[Damage] = []
        self.checksum = 0
        """crc32 of everything up to `offset`."""
        self._mark = mark
        self.marked_checksum: int | None = None
        """crc32 of everything up to the mark; None before that is reached."""
        self._sessions = set[bytes]()
        """First lines of the sessions read so far."""
        self._is_copy = False
        """True within lines that were appended a second time."""

    def read_new(self, limit_bytes: int = 64 << 20) -> list[AnyRecord]:
        """Return the records completed since the last call, about `limit_bytes` at most.

        Damaged lines are skipped and listed in `damages`. A last line without a newline is left for the next call. A
        missing journal counts as empty.

        Raises:
            UsageError: the journal exists and cannot be read.
        """
        return list(self.iter_new(limit_bytes))

    def iter_new(self, limit_bytes: int = 64 << 20) -> Iterator[AnyRecord]:
        """Yield the records of `read_new`, decoding lazily."""
        for line in self._new_lines(limit_bytes):
            if (record := self._record(line, decode)) is not None:
                yield record

    def _record(self, line: bytes, decode: Callable[[bytes], RecordT]) -> RecordT | None:
        """Decode the next line; None if it is empty, damaged, or in a session that was already read."""
        self.lines += 1
        if line.startswith(SESSION_HEAD):
            self._is_copy = line in self._sessions
            self._sessions.add(line)
            if self._is_copy:
                self.damages.append(Damage(self.lines, "a second copy of a session begins here; it is not counted"))
        if not line or self._is_copy:
            return None
        try:
            return decode(line)
        except BadLine as error:
            self.damages.append(Damage(self.lines, str(error), error.is_newer))
            return None

    def iter_all(self) -> Iterator[AnyRecord]:
        """Yield all records up to the journal's end, with bounded memory."""
        while True:
            start = self.offset
            yield from self.iter_new(PIECE_BYTES)
            if self.offset == start:
                return

    def _new_lines(self, limit_bytes: int) -> list[bytes]:
        try:
            with open_journal(self.path) as file:
                data = read_span(file, self.offset, limit_bytes)
                if len(data) == limit_bytes:
                    data += file.readline()
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise UsageError(f"the journal cannot be read: {error.strerror or error}", where=str(self.path)) from None
        whole = data[: data.rfind(b"\n") + 1]
        if self.offset < self._mark <= self.offset + len(whole):
            self.marked_checksum = crc32(whole[: self._mark - self.offset], self.checksum)
        self.checksum = crc32(whole, self.checksum)
        self.offset += len(whole)
        return whole.split(b"\n")[:-1]


def checksum_before(path: Path, end: int) -> int:
    """Return the crc32 of the last bytes before `end`, which identify a journal that has grown.

    Raises:
        OSError: the journal cannot be read.
    """
    start = max(0, end - _LAST_BYTES)
    with open_journal(path) as file:
        return crc32(read_span(file, start, end - start))


def records_at(path: Path, starts: Iterable[int]) -> Iterator[AnyRecord]:
    """Yield the records that start at these bytes, without damaged ones.

    Raises:
        OSError: the journal cannot be read.
    """
    with open_journal(path) as file:
        for start in starts:
            file.seek(start)
            with contextlib.suppress(BadLine):
                yield decode(file.readline().removesuffix(b"\n"))


def checksum_of(path: Path, size: int) -> int:
    """Return the crc32 of the first `size` bytes of a journal.

    Raises:
        OSError: the journal cannot be read.
    """
    checksum = 0
    with open_journal(path) as file:
        while size > 0 and (piece := file.read(min(size, PIECE_BYTES))):
            checksum, size = crc32(piece, checksum), size - len(piece)
    return checksum


def unsynced_path(path: Path) -> Path:
    """Return the path of the file that marks unconfirmed data by its first offset."""
    return path.with_name(f"{path.name}.unsynced")


def open_whole(path: Path) -> tuple[int, Path | None]:
    """Open a journal for appending with its last line complete; return descriptor and path of a torn tail set aside.

    Raises:
        OSError: the file cannot be opened, or its name cannot be made durable.
    """
    try:
        fd = open_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        is_other = error.errno in (errno.ELOOP, errno.EINVAL)
        raise OSError(errno.ELOOP, _OTHER_FILE) if is_other else error from None
    try:
        status = os.fstat(fd)
        if status.st_nlink > 1:
            raise OSError(errno.ELOOP, _OTHER_FILE)
        if not status.st_size:
            set_mode(fd, PRIVATE)
            sync_folder(path.parent)
        return fd, _set_torn_tail_aside(fd, path)
    except BaseException:
        os.close(fd)
        raise


def _set_torn_tail_aside(fd: int, path: Path) -> Path | None:
    """Move bytes after the last newline to a separate file; if truncating fails, terminate them as a damaged line."""
    size = os.fstat(fd).st_size
    end = _end_of_last_line(fd, size)
    if end == size:
        return None
    torn = set_aside(path, os.pread(fd, size - end, end))
    try:
        os.ftruncate(fd, end)
    except OSError:
        os.write(fd, b"\n")
    sync_file(fd)
    return torn


def set_aside(path: Path, data: bytes) -> Path:
    """Write part of a line to `torn-<time>.bin` next to the journal and return that path.

    Raises:
        OSError: the file cannot be written.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    torn = path.with_name(f"torn-{stamp}.bin")
    write_private(torn, data, sync=True)
    return torn


def _end_of_last_line(fd: int, size: int, block: int = 1 << 16) -> int:
    """Return the offset after the last newline, searching backwards."""
    end = size
    while end > 0:
        start = max(0, end - block)
        at = os.pread(fd, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _disk_fault(path: Path, error: OSError) -> Fault:
    return Fault(
        FaultKind.DISK,
        f"cannot write {path.name}: {error.strerror or error}",
        hint="Free some disk space or make the folder writable; nothing that was finished is lost.",
    )


def _sync_fault(path: Path, error: OSError) -> Fault:
    return Fault(
        FaultKind.DISK,
        f"the disk does not confirm writes to {path.name}: {error.strerror or error}",
        hint="Data written since the last successful sync may be lost with a power cut or a remount. "
        "Check the disk first; `eval-console resume` writes the data again before it continues.",
    )
