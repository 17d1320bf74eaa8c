"""Safe unpacking of untrusted archives.

Writes nothing outside the target folder, creates no links or devices, and caps members, sizes and compression ratios,
counting actual bytes rather than claimed sizes. The first unsafe member rejects the whole archive.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from console.core.fault import UsageError, reason_of
from console.core.names import folded
from console.store.atomic import PRIVATE, PRIVATE_FOLDER

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CHUNK = 1 << 20
_SMALL = 4096
"""Maximum size in bytes of a member exempt from the limit on the compression ratio."""
_PACKED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
"""Openers of compressed files by their first bytes."""


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Limits for one archive; sizes in bytes."""

    members: int = 20_000
    member_bytes: int = 64 << 20
    total_bytes: int = 512 << 20
    ratio: float = 200.0


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as lowercase hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_sha256(folder: Path, without: tuple[str, ...] = ()) -> str:
    """Return one SHA-256 over the sorted relative names and contents of a folder's files, except names in `without`."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in without):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{file_sha256(path)}\n".encode())
    return digest.hexdigest()


def unpack_zip(
    archive: Path, target: Path, keep: Callable[[str], bool], limits: ArchiveLimits | None = None
) -> list[Path]:
    """Unpack the members whose archive names `keep` accepts to `target`, after checking all members.

    Returns:
        The files written, in archive order.

    Raises:
        UsageError: not a zip, corrupt, or with an unsafe or oversize member (named).
    """
    limits = limits or ArchiveLimits()
    try:
        with zipfile.ZipFile(archive) as opened:
            members = list(_checked(archive, opened, limits))
            return [_write(opened, member, target) for member in members if keep(member.filename)]
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, RuntimeError) as error:
        raise UsageError(f"not a readable zip archive: {reason_of(error)}", where=str(archive)) from error


def unpacked_pieces(path: Path, most_bytes: int) -> Iterator[bytes]:
    """Yield the content of a file, decompressed if it is a gzip, bzip2 or xz file.

    Raises:
        UsageError: it is damaged, or unpacks to more than allowed.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        beginning = file.read(6)
    unpack = next((unpack for magic, unpack in _PACKED.items() if beginning.startswith(magic)), Path.open)
    try:
        with unpack(path, "rb") as file:
            while piece := file.read(_CHUNK):
                most_bytes -= len(piece)
                if most_bytes < 0:
                    raise UsageError("unpacks to more than is allowed", where=str(path))
                yield piece
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise UsageError(f"cannot be unpacked: {reason_of(error)}", where=str(path)) from error


def unpack_tar(
    parts: Iterable[bytes],
    target: Path,
    limits: ArchiveLimits,
    keep: Callable[[tarfile.TarInfo], bool] | None = None,
) -> dict[str, Path]:
    """Unpack the members of an uncompressed tar stream to files that only the owner can read.

    Args:
        parts: the archive in chunks of any size.
        target: an empty folder.
        limits: limits of members and sizes; the ratio is ignored.
        keep: accepts members to unpack; without it all are, and anything but a file is refused.

    Returns:
        The files written, by archive name.

    Raises:
        UsageError: not a tar, truncated, or with an unsafe or oversize member (named).
        OSError: a file cannot be written.
    """
    files: dict[str, Path] = {}
    left = limits.total_bytes
    try:
        with tarfile.open(fileobj=io.BufferedReader(_Parts(parts), _CHUNK), mode="r|", bufsize=_CHUNK) as opened:
            for member in opened:
                if keep is not None and not keep(member):
                    continue
                is_plain = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse()
                reason = _unsafe_name(member.name) or ("" if is_plain else "is not a regular file")
                if not reason and member.size > min(left, limits.member_bytes):
                    reason = "is larger than allowed"
                if not reason and len(files) >= limits.members:
                    reason = f"exceeds the limit of {limits.members} files"
                source = None if reason else opened.extractfile(member)
                if source is None:
                    raise UsageError(f"refused: member {member.name!r} {reason}")
                left -= member.size
                files[member.name] = _write_private(source, target, PurePosixPath(member.name))
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise UsageError(f"not a readable tar archive: {reason_of(error)}") from error
    return files


class _Parts(io.RawIOBase):
    """Raw file over an iterable of chunks."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts, self._rest = (part for part in parts if part), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._parts, b""))
        into = memoryview(buffer)
        size = min(len(into), len(self._rest))
        into[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def _write_private(source: IO[bytes], target: Path, name: PurePosixPath) -> Path:
    folder = target
    for part in name.parts[:-1]:
        folder /= part
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    path = folder / name.name
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    with os.fdopen(fd, "wb") as out:
        while chunk := source.read(_CHUNK):
            out.write(chunk)
    return path


def _checked(archive: Path, opened: zipfile.ZipFile, limits: ArchiveLimits) -> Iterator[zipfile.ZipInfo]:
    infos = opened.infolist()
    if len(infos) > limits.members:
        raise UsageError(f"has {len(infos)} members, but at most {limits.members} are unpacked", where=str(archive))
    if sum(info.file_size for info in infos) > limits.total_bytes:
        raise UsageError(f"unpacks to more than {limits.total_bytes >> 20} MiB", where=str(archive))
    seen: set[str] = set()
    for info in infos:
        reason = _unsafe_name(info.filename) or _unsafe_kind(info) or _oversize(info, limits)
        if not reason and folded(info.filename) in seen:
            reason = "occurs twice"
        if reason:
            raise UsageError(f"refused: member {info.filename!r} {reason}", where=str(archive))
        seen.add(folded(info.filename))
        if not info.is_dir():
            yield info


def _unsafe_name(name: str) -> str:
    if not name or "\0" in name or "\\" in name or ":" in name:
        return "has a name that is not a plain relative path"
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        return "would be written outside the target folder"
    return ""


def _unsafe_kind(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & 0x1:
        return "is encrypted"
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind in (0, stat.S_IFREG) or (kind == stat.S_IFDIR and info.is_dir()):
        return ""
    return "is a link or a device"


def _oversize(info: zipfile.ZipInfo, limits: ArchiveLimits) -> str:
    if info.file_size > limits.member_bytes:
        return f"is larger than {limits.member_bytes >> 20} MiB"
    if info.file_size > _SMALL and info.file_size > limits.ratio * max(info.compress_size, 1):
        return f"is compressed more than {limits.ratio:g} times"
    return ""


def _write(opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> Path:
    path = target.joinpath(*PurePosixPath(info.filename).parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with opened.open(info) as source, path.open("xb") as out:  # zipfile reads no more than the size that was checked
        shutil.copyfileobj(source, out, _CHUNK)
    return path
