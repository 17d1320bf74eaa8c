"""Opening a journal for reading, whether plain or archived in compressed blocks; nothing else does.

An archived journal is `journal.jsonl.gz`: gzip members of one mebibyte each, which any gzip reads as one file. Each
states its own length in its header, so that a reader finds the block of any offset without unpacking those before it.
Offsets, size and modification time are those of the original, so that everything derived from it stays valid. If both
files exist, archiving or unpacking was interrupted, and the plain one counts: it is deleted last, and always complete
when it appears.
"""

import io
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from console.store.atomic import PRIVATE, create_private, open_regular, set_mode
from console.store.durable import sync_file, sync_folder

ENDING = ".gz"
_BLOCK = 1 << 20
_HEAD = struct.Struct("<4sIBBH2sHI")
"""Start of a member: magic, method and flags; time; extra flags; system; length, name and length of the extra field;
and in it the length of the whole member."""
_MAGIC, _NAME = b"\x1f\x8b\x08\x04", b"EC"
_TAIL = struct.Struct("<II")
"""End of a member: crc32 and length of its content."""


class JournalStatus(NamedTuple):
    """Size and modification time of a journal as it was written."""

    size: int
    modified_ns: int


class ArchiveError(OSError):
    """An archived journal is damaged."""


def archived_path(path: Path) -> Path:
    """Return the path of a journal's compressed copy, whether or not it exists."""
    return path.with_name(path.name + ENDING)


def is_archived(path: Path) -> bool:
    """Return whether a journal exists only as a compressed copy; False if its folder may not be read."""
    try:
        return not path.exists() and archived_path(path).exists()
    except PermissionError:
        return False


def open_journal(path: Path) -> BinaryIO:
    """Open a journal for reading at any offset.

    Raises:
        OSError: it does not exist or cannot be read.
    """
    for _ in range(2):  # it may be archived or unpacked between the two attempts
        try:
            return open_regular(path)
        except FileNotFoundError:
            try:
                return _open_archive(archived_path(path))
            except FileNotFoundError:
                continue
    return open_regular(path)


def journal_status(path: Path) -> JournalStatus:
    """Return the size and modification time of a journal, archived or not.

    Raises:
        OSError: it does not exist or cannot be read.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        try:
            with open_regular(archived_path(path)) as file:
                size = sum(length for _, _, length in _blocks(file))
                return JournalStatus(size, os.fstat(file.fileno()).st_mtime_ns)
        except FileNotFoundError:
            status = path.stat()  # unpacked meanwhile, or missing
    return JournalStatus(status.st_size, status.st_mtime_ns)


def read_span(file: BinaryIO, start: int, length: int) -> bytes:
    """Return the bytes of a journal at an offset, fewer at its end."""
    file.seek(start)
    return file.read(length)


# Archiving -----------------------------------------------------------------------------------------------------------


def archive_journal(path: Path) -> JournalStatus:
    """Replace a journal with a compressed copy; the caller holds the run's lock. Return the status of the copy's file.

    The copy is written, synced and compared with the original, byte by byte, before it gets its name; the original is
    deleted last.

    Raises:
        OSError: a file cannot be read or written, or the copy differs; the journal is as it was.
    """
    archive = archived_path(path)
    if path.exists():
        with open_regular(path) as original:
            status = os.fstat(original.fileno())
            _write_whole(archive, status.st_mtime_ns, lambda copy: _pack(original, copy))
        path.unlink()
        sync_folder(path.parent)
    status = archive.stat()
    return JournalStatus(status.st_size, status.st_mtime_ns)


def unpack_journal(path: Path) -> None:
    """Restore an archived journal to a plain file; the caller holds the run's lock. A plain one is left unchanged.

    Raises:
        OSError: a file cannot be read or written, or the archive is damaged; the archive stays.
    """
    archive = archived_path(path)
    if not path.exists() and archive.exists():
        with _open_archive(archive) as packed:
            modified_ns = archive.stat().st_mtime_ns
            _write_whole(path, modified_ns, lambda plain: _copy(packed, plain))
    if path.exists() and archive.exists():
        archive.unlink()
        sync_folder(path.parent)


def _write_whole(path: Path, modified_ns: int, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under a temporary name, sync it, rename it, and give it the journal's times."""
    new = path.with_name(f".{path.name}.new")
    try:
        with create_private(new) as file:
            set_mode(file.fileno(), PRIVATE)
            write(file)
            file.flush()
            os.utime(file.fileno(), ns=(modified_ns, modified_ns))
            sync_file(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _pack(original: BinaryIO, copy: BinaryIO) -> None:
    while block := original.read(_BLOCK):
        packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = packer.compress(block) + packer.flush()
        length = _HEAD.size + len(packed) + _TAIL.size
        copy.write(_HEAD.pack(_MAGIC, 0, 2, 255, 8, _NAME, 4, length))
        copy.write(packed + _TAIL.pack(zlib.crc32(block), len(block)))
    copy.flush()
    os.fsync(copy.fileno())
    original.seek(0)
    with io.BufferedReader(_Archive(os.fdopen(os.dup(copy.fileno()), "rb"))) as written:
        while True:
            left, right = original.read(_BLOCK), written.read(_BLOCK)
            if left != right:
                raise ArchiveError("the compressed copy differs from the journal")
            if not left:
                return


def _copy(packed: BinaryIO, plain: BinaryIO) -> None:
    while block := packed.read(_BLOCK):
        plain.write(block)


# Reading -------------------------------------------------------------------------------------------------------------


def _open_archive(path: Path) -> BinaryIO:
    file = open_regular(path)
    try:
        return cast(BinaryIO, io.BufferedReader(_Archive(file)))
    except BaseException:
        file.close()
        raise


def _blocks(file: BinaryIO) -> list[tuple[int, int, int]]:
    """Return first byte and length of each member, and the length of its content."""
    fd = file.fileno()
    size, start = os.fstat(fd).st_size, 0
    blocks: list[tuple[int, int, int]] = []
    while start < size:
        head = os.pread(fd, _HEAD.size, start)
        if len(head) < _HEAD.size:
            raise ArchiveError("the archived journal is truncated")
        magic, _, _, _, _, name, _, length = _HEAD.unpack(head)
        if magic != _MAGIC or name != _NAME or start + length > size or length < _HEAD.size + _TAIL.size:
            raise ArchiveError("the archived journal is damaged, or another program has packed it")
        blocks.append((start, length, _TAIL.unpack(os.pread(fd, _TAIL.size, start + length - _TAIL.size))[1]))
        start += length
    return blocks


class _Archive(io.RawIOBase):
    """The content of an archived journal, readable at any offset; caches the last block read."""

    def __init__(self, file: BinaryIO) -> None:
        """Find the blocks; the file is closed with this object.

        Raises:
            ArchiveError: see `_blocks`.
        """
        super().__init__()
        self._file = file
        self._blocks = _blocks(file)
        self._starts = [0]
        for _, _, length in self._blocks:
            self._starts.append(self._starts[-1] + length)
        self._place = 0
        self._kept = (-1, b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._starts[-1]}[whence]
        self._place = max(base + offset, 0)
        return self._place

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._place >= self._starts[-1]:
            return 0
        number = min(self._place // _BLOCK, len(self._blocks) - 1)  # all blocks but the last have the same length
        content, first = self._content(number), self._place - self._starts[number]
        count = min(len(buffer), len(content) - first)
        buffer[:count] = content[first : first + count]
        self._place += count
        return count

    def _content(self, number: int) -> bytes:
        if self._kept[0] != number:
            start, length, _ = self._blocks[number]
            packed = os.pread(self._file.fileno(), length - _HEAD.size, start + _HEAD.size)
            try:
                content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed[: -_TAIL.size], _BLOCK + 1)
            except zlib.error as error:
                raise ArchiveError(f"block {number + 1} of the archived journal is damaged") from error
            if _TAIL.unpack(packed[-_TAIL.size :]) != (zlib.crc32(content), len(content)):
                raise ArchiveError(f"block {number + 1} of the archived journal is damaged: its checksum differs")
            self._kept = number, content
        return self._kept[1]

    def close(self) -> None:
        self._file.close()
        super().close()
