"""The append-only journal of a run: whole lines or nothing, in order, readable while it grows.

Rules: one writer (see `lock`), one `write` a line, rolled back when it falls short (a full disk never glues two
records together); a torn tail of a killed writer is set aside on open, never deleted and never silently read.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from console.core.fault import Fault, FaultKind, UsageError
from console.core.record import AnyRecord
from console.store.line import BadLine, decode, encode

_PIECE_BYTES = 1 << 20


class Damage(msgspec.Struct, frozen=True):
    """A part of a journal that could not be read."""

    line: int
    """Line number from 1."""
    why: str
    is_newer: bool = False
    """Whole, but written by a newer version of this program."""


class JournalWriter:
    """The one writer of a journal. Open it only while holding the run's lock."""

    def __init__(self, path: Path) -> None:
        """Open for appending, setting a torn tail aside first.

        Raises:
            Fault: the file cannot be opened or repaired (kind `disk`).
        """
        self.path = path
        self.torn: Path | None = None
        try:
            self.torn = set_torn_tail_aside(path)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self.size = os.fstat(self._fd).st_size
        except OSError as error:
            raise _disk_fault(path, error) from error
        self._synced = self.size

    def append(self, record: AnyRecord) -> int:
        """Write one record whole and return the journal's new size in bytes.

        Raises:
            Fault: the disk refused (kind `disk`); nothing of the record remains in the file.
        """
        line = encode(record)
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                written += os.write(self._fd, line[written:])
            if written != len(line):
                raise OSError(28, "No space left on device")
        except OSError as error:
            self._roll_back()
            raise _disk_fault(self.path, error) from error
        self.size += len(line)
        return self.size

    def _roll_back(self) -> None:
        try:
            os.ftruncate(self._fd, self.size)
        except OSError as error:
            raise _disk_fault(self.path, error) from error

    @property
    def is_synced(self) -> bool:
        """Whether everything appended has reached the disk."""
        return self._synced == self.size

    def sync(self) -> None:
        """Make everything appended so far survive a power cut; callable from another thread.

        Raises:
            Fault: the disk refused (kind `disk`).
        """
        size = self.size
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            raise _disk_fault(self.path, error) from error
        self._synced = size

    def close(self) -> None:
        """Sync and close; errors of a vanished disk are not raised any more at this point."""
        try:
            os.fdatasync(self._fd)
        except OSError:
            pass
        finally:
            os.close(self._fd)


class JournalReader:
    """Reads a journal from its start and goes on as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.lines = 0
        self.damages: list[Damage] = []

    def read_new(self, limit_bytes: int = 64 << 20) -> list[AnyRecord]:
        """Return the records completed since the last call, at most about `limit_bytes` of them.

        Damaged lines are skipped and listed in `damages`. A last line without its newline is left for later. A journal
        that is not there, or is no more, is an empty one.

        Raises:
            UsageError: it is there and cannot be read.
        """
        return list(self.iter_new(limit_bytes))

    def iter_new(self, limit_bytes: int = 64 << 20) -> Iterator[AnyRecord]:
        """Yield what `read_new` returns, decoding as it is consumed."""
        for line in self._new_lines(limit_bytes):
            self.lines += 1
            if not line:
                continue
            try:
                yield decode(line)
            except BadLine as error:
                self.damages.append(Damage(self.lines, str(error), error.is_newer))

    def iter_all(self) -> Iterator[AnyRecord]:
        """Yield everything up to the journal's end, holding no more than a piece of it."""
        while True:
            start = self.offset
            yield from self.iter_new(_PIECE_BYTES)
            if self.offset == start:
                return

    def _new_lines(self, limit_bytes: int) -> list[bytes]:
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                data = file.read(limit_bytes)
                if len(data) == limit_bytes:
                    data += file.readline()
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror or error}", where=str(self.path)) from None
        end = data.rfind(b"\n") + 1
        self.offset += end
        return data[:end].split(b"\n")[:-1]

    @property
    def has_torn_tail(self) -> bool:
        """Whether bytes follow the last newline: a writer in the middle of a line, or killed there."""
        try:
            return self.path.stat().st_size > self.offset
        except FileNotFoundError:
            return False


def set_torn_tail_aside(path: Path) -> Path | None:
    """Move bytes after the last newline to `torn-<time>.bin` beside the journal and return that path, if any.

    Raises:
        OSError: the files cannot be changed; the journal is then as it was.
    """
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return None
    with path.open("r+b") as file:
        end = _end_of_last_line(file.fileno(), size)
        if end == size:
            return None
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        aside = path.with_name(f"torn-{stamp}.bin")
        aside.write_bytes(os.pread(file.fileno(), size - end, end))
        file.truncate(end)
        os.fsync(file.fileno())
    return aside


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
        hint="Free some space or make the folder writable; nothing that was finished is lost.",
    )
