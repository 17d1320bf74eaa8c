"""Bounded reader of untrusted zip files: one member at a time, at most `LARGEST_BYTES`.

Member names are not used as paths: nothing is ever extracted. A file without a table of contents, because it was
truncated or is being written, is scanned from its beginning for complete members. Members may be stored, deflated or,
as inspect_ai writes them, compressed with zstd.
"""

import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from console.core.fault import UsageError, os_errors_as, reason_of
from console.store.atomic import open_regular

LARGEST_BYTES = 128 << 20
"""Maximum size of a member that is read."""
_PIECE_BYTES = 1 << 18
_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_LOCAL_MARK = b"PK\x03\x04"
_DESCRIPTOR_MARK = b"PK\x07\x08"
_SIZES_FOLLOW, _IS_ENCRYPTED = 8, 1


class BadMember(ValueError):
    """A member cannot be read."""


class Member(msgspec.Struct, frozen=True, array_like=True):
    """One member of a zip file."""

    name: str
    header_at: int
    compressed: int
    size: int
    method: int
    crc: int


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def pieces(self, data: bytes) -> Iterator[bytes]: ...


class _Stored:
    eof, unused_data = False, b""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield data


class _Deflated:
    def __init__(self) -> None:
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while data and not self._stream.eof:
            yield self._stream.decompress(data, _PIECE_BYTES)
            data = self._stream.unconsumed_tail


class _Zstd:
    """Decompresses concatenated frames, as in large members."""

    def __init__(self) -> None:
        if sys.version_info >= (3, 14):  # imported late: rarely needed
            from compression import zstd
        else:
            from backports import zstd
        self._new = zstd.ZstdDecompressor
        self._stream = self._new()

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data if self._stream.eof else b""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._stream.needs_input or self._stream.eof):
            if self._stream.eof:
                self._stream = self._new()
            yield self._stream.decompress(data, _PIECE_BYTES)
            data = self._stream.unused_data if self._stream.eof else b""


class ZipMembers:
    """The members of one zip file, by name."""

    def __init__(self, path: Path) -> None:
        """Read the table of contents; without one, scan for members.

        Raises:
            UsageError: the file cannot be read, or is not a zip file.
        """
        self.path = path
        self.is_cut_off = False
        """True if the file has no table of contents, so that members may be missing."""
        self.by_name: dict[str, Member] = {}
        """In file order; if several members have the same name, the last one wins, as usual."""
        self.doubled: list[str] = []
        """Names that occur more than once."""
        with os_errors_as("cannot be read", where=path):
            size = path.stat().st_size
            members = self._listed()
            if members is None:
                self.is_cut_off = True
                members = self._scanned(size)
        if not members:
            raise UsageError("is not a zip file, or contains no complete member", where=str(path))
        if sum(member.compressed for member in members) > size:
            raise UsageError("its members overlap, so it is malicious", where=str(path))
        for member in members:
            if member.name in self.by_name:
                self.doubled.append(member.name)
            self.by_name[member.name] = member

    def _listed(self) -> list[Member] | None:
        """Return the members in the table of contents; None if there is none."""
        try:
            with open_regular(self.path) as file, zipfile.ZipFile(file) as archive:
                return [
                    Member(
                        entry.filename,
                        entry.header_offset,
                        entry.compress_size,
                        entry.file_size,
                        -1 if entry.flag_bits & _IS_ENCRYPTED else entry.compress_type,
                        entry.CRC,
                    )
                    for entry in archive.infolist()
                    if not entry.is_dir()
                ]
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error):
            return None

    def _scanned(self, size: int) -> list[Member]:
        """Return the complete members, scanning from the start of the file."""
        members: list[Member] = []
        with open_regular(self.path) as file:
            at = 0
            while at < size:
                read = _local_header(file, at)
                if read is None:
                    break
                member, data_at, sizes_follow = read
                try:
                    if sizes_follow:
                        member, end = _measured(file, member, data_at)
                    else:
                        end = data_at + member.compressed
                except BadMember:
                    break
                if end > size:
                    break
                members.append(member)
                at = end
        return members

    def read(self, name: str) -> bytes:
        """Return the content of a member.

        Raises:
            BadMember: it is missing, damaged, too large, encrypted, or compressed in an unknown way.
            OSError: the file can no longer be read.
        """
        member = self.by_name.get(name)
        if member is None:
            raise BadMember("is missing")
        return read_member(self.path, member)


def read_member(path: Path, member: Member) -> bytes:
    """Return the content of a member whose location in a zip file is known.

    Raises:
        BadMember: it is damaged, too large, encrypted, or compressed in an unknown way.
        OSError: the file cannot be read.
    """
    if member.size > LARGEST_BYTES:
        raise BadMember(f"has {member.size >> 20} MB, more than the limit of {LARGEST_BYTES >> 20} MB")
    with open_regular(path) as file:
        return _content(file, member)


def _local_header(file: BinaryIO, at: int) -> tuple[Member, int, bool] | None:
    """Return the member whose header begins at a byte, the offset of its content, and whether its sizes follow it."""
    if not 0 <= at < os.fstat(file.fileno()).st_size:
        return None
    file.seek(at)
    head = file.read(_LOCAL_HEADER.size)
    if len(head) < _LOCAL_HEADER.size or not head.startswith(_LOCAL_MARK):
        return None
    _, _, flags, method, _, _, crc, compressed, size, name_length, extra_length = _LOCAL_HEADER.unpack(head)
    name = file.read(name_length).decode("utf-8", "replace")
    extra = file.read(extra_length)
    if 0xFFFFFFFF in (compressed, size):
        size, compressed = _large_sizes(extra, size, compressed)
    if flags & _IS_ENCRYPTED:
        method = -1
    data_at = at + _LOCAL_HEADER.size + name_length + extra_length
    return Member(name, at, compressed, size, method, crc), data_at, bool(flags & _SIZES_FOLLOW)


def _large_sizes(extra: bytes, size: int, compressed: int) -> tuple[int, int]:
    """Return both sizes of a member larger than four gigabytes."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1 and length >= 16 and at + 20 <= len(extra):
            large = struct.unpack_from("<QQ", extra, at + 4)
            return large[0], large[1]
        at += 4 + length
    return size, compressed


def _measured(file: BinaryIO, member: Member, data_at: int) -> tuple[Member, int]:
    """Return a member whose sizes follow its content, and the offset of the next one."""
    if member.method not in (_DEFLATED, _ZSTD):
        raise BadMember("does not say where it ends")
    file.seek(data_at)
    decompressor, size, crc, taken = _decompressor(member.method), 0, 0, 0
    while not decompressor.eof:
        data = file.read(_PIECE_BYTES)
        if not data:
            raise BadMember("is truncated")
        taken += len(data)
        for piece in _checked(decompressor.pieces(data)):
            size, crc = size + len(piece), zlib.crc32(piece, crc)
            if size > LARGEST_BYTES:
                raise BadMember("is too large")
    end = data_at + taken - len(decompressor.unused_data)
    file.seek(end)
    has_mark = file.read(4) == _DESCRIPTOR_MARK
    whole = msgspec.structs.replace(member, compressed=end - data_at, size=size, crc=crc)
    return whole, end + (16 if has_mark else 12)


def _decompressor(method: int) -> _Decompressor:
    if method == _STORED:
        return _Stored()
    if method == _DEFLATED:
        return _Deflated()
    if method == _ZSTD:
        return _Zstd()
    raise BadMember("is encrypted" if method < 0 else f"uses an unsupported compression method ({method})")


def _checked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pass chunks through; raise BadMember on a damaged stream."""
    try:
        yield from pieces
    except (zlib.error, EOFError, ValueError) as error:
        raise BadMember(f"is damaged: {reason_of(error)}") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise BadMember(f"is damaged: {error}") from None


def _content(file: BinaryIO, member: Member) -> bytes:
    read = _local_header(file, member.header_at)
    if read is None:
        raise BadMember("is not where the table of contents says")
    file.seek(read[1])
    decompressor = _decompressor(member.method)
    content, left, crc = bytearray(), member.compressed, 0
    while left > 0:
        data = file.read(min(left, _PIECE_BYTES))
        if not data:
            raise BadMember("is truncated")
        left -= len(data)
        for piece in _checked(decompressor.pieces(data)):
            content += piece
            crc = zlib.crc32(piece, crc)
            if len(content) > member.size:
                raise BadMember("is larger than declared")
    if len(content) != member.size or crc != member.crc:
        raise BadMember("is damaged: its checksum does not match")
    return bytes(content)
