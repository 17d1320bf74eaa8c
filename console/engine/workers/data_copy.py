"""Copies of a run's data for nodes that lack it: packed by the engine, unpacked once on each node.

The copy holds the suite's folder and, if the run uses it, the local embedding model's weights: regular files without a
leading dot, under one digest of all names and contents. Nodes cache it under that digest. Keys known on this machine
are never sent: a file that contains one is refused.
"""

import fcntl
import io
import mmap
import os
import re
import shutil
import socket
import tarfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from console.config.paths import cache_dir
from console.config.redaction import is_worth_hiding, sounds_secret
from console.config.weights import FOLDER
from console.core.fault import UsageError, reason_of
from console.core.weights import PUBLISHED
from console.store.atomic import PRIVATE, PRIVATE_FOLDER
from console.suites.archive import ArchiveLimits, file_sha256, unpack_tar

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

MOST = ArchiveLimits(members=20_000, member_bytes=2 << 30, total_bytes=2 << 30)
"""Limits on sent data; larger data must reach the nodes by other means."""
PART_BYTES = 8 << 20
"""Size of the parts that an object store holds, moves and spills."""
_OWN_FILES = ("models.toml", "presets.toml", "__pycache__")
"""Names that are never data, in addition to those with a leading dot, such as `.env` and `.git`."""
_COPY_HINT = "Put the data on every node, or in a folder that all nodes share (--data)."


@dataclass(frozen=True, slots=True)
class RunData:
    """Files that a run needs."""

    files: Mapping[str, Path]
    """Files by name in the archive, sorted by name."""
    digest: str
    """sha256, in hex, of all names and contents."""


def find_run_data(suite: str, folder: Path, weights: Path | None, secrets: Iterable[str]) -> RunData:
    """Collect the files that a run needs.

    Args:
        suite: name of the suite, under which its folder is unpacked.
        folder: folder of the suite.
        weights: folder of the local embedding model, if the run uses it.
        secrets: keys of the run's models; secret-sounding environment variables are checked too.

    Raises:
        UsageError: a file is a link, contains a key or cannot be read, or the data is too large.
    """
    try:
        files = {f"{suite}/{name}": path for name, path in _files_of(folder).items()}
        if weights is not None:
            files |= {f"{FOLDER}/{name}": weights / name for name in PUBLISHED}
        _check_size(folder, files)
        _check_secrets(files, secrets)
        return RunData(files, digest_of_files(files))
    except OSError as error:
        raise UsageError(f"the data cannot be read: {reason_of(error)}", where=str(error.filename or folder)) from None


def digest_of_files(files: Mapping[str, Path]) -> str:
    """Return one digest of the names and contents of files.

    Raises:
        OSError: a file cannot be read.
    """
    digest = sha256()
    for name, path in sorted(files.items()):
        digest.update(f"{name}\0{file_sha256(path)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def pack(data: RunData, put: Callable[[bytes], object]) -> None:
    """Pack a run's data deterministically and yield it in parts of `PART_BYTES`.

    Raises:
        UsageError: a file cannot be read, or shrank meanwhile.
    """
    sink = _Sink(put)
    try:
        with tarfile.open(fileobj=sink, mode="w|", format=tarfile.PAX_FORMAT, bufsize=PART_BYTES) as archive:
            for name, path in data.files.items():
                with path.open("rb") as file:
                    member = tarfile.TarInfo(name)
                    member.size, member.mode = os.fstat(file.fileno()).st_size, PRIVATE
                    archive.addfile(member, file)
    except (OSError, tarfile.TarError) as error:
        raise UsageError(f"the data cannot be packed: {reason_of(error)}", hint=_COPY_HINT) from None


def unpack_once(digest: str, parts: Iterable[bytes]) -> tuple[Path, bool]:
    """Return the folder of the data in this node's cache, unpacking it there if needed.

    Of several processes on a node one unpacks and the others wait. Existing data is verified against its digest.

    Args:
        digest: digest of the data, from `RunData`.
        parts: output of `pack`; only consumed if needed.

    Returns:
        The folder, which holds dataset folders, and whether this call unpacked it.

    Raises:
        UsageError: the archive is unsafe or does not match the digest, or the cache cannot be written.
    """
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise UsageError("the engine sent an invalid data digest")
    cache = cache_dir() / "data"
    target, part = cache / digest, cache / f".{digest}.{socket.gethostname()}"
    try:
        cache.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        with _locked(Path(f"{part}.lock")):
            if _is_whole(target, digest):
                return target, False
            shutil.rmtree(part, ignore_errors=True)  # left by a killed process
            part.mkdir(mode=PRIVATE_FOLDER)
            try:
                if digest_of_files(unpack_tar(parts, part, MOST)) != digest:
                    raise UsageError("the data arrived corrupted", hint=_COPY_HINT)
                if not _is_whole(target, digest):  # nodes that share a cache may race
                    shutil.rmtree(target, ignore_errors=True)
                    part.rename(target)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        where = str(error.filename or cache)
        raise UsageError(f"the data cannot be unpacked: {reason_of(error)}", where=where, hint=_COPY_HINT) from None
    return target, True


class _Sink(io.RawIOBase):
    """A file object that passes on what is written to it."""

    def __init__(self, put: Callable[[bytes], object]) -> None:
        self._put = put

    def write(self, data: "ReadableBuffer", /) -> int:
        put, self._put = self._put, _drop  # after an error, the rest of the tar is dropped
        put(bytes(data))
        self._put = put
        return memoryview(data).nbytes


def _drop(part: bytes) -> None:
    del part


def _files_of(folder: Path) -> dict[str, Path]:
    """Return the data files of a folder by name.

    Raises:
        UsageError: there is a link or a device.
        OSError: a folder cannot be read.
    """
    files: dict[str, Path] = {}
    for root, folders, names in os.walk(folder, onerror=_raise):
        for name in sorted([*names, *folders]):
            path = Path(root) / name
            if name.startswith(".") or name in _OWN_FILES:
                if name in folders:
                    folders.remove(name)
            elif path.is_symlink() or not (path.is_file() or path.is_dir()):
                kind = "links" if path.is_symlink() else "special files"
                raise UsageError(f"{kind} are not sent to nodes", where=str(path), hint=_COPY_HINT)
            elif path.is_file():
                files[path.relative_to(folder).as_posix()] = path
    return dict(sorted(files.items()))


def _raise(error: OSError) -> None:
    raise error


def _check_size(folder: Path, files: Mapping[str, Path]) -> None:
    size = sum(path.stat().st_size for path in files.values())
    if len(files) > MOST.members or size > MOST.total_bytes:
        raise UsageError(
            f"the data has {len(files)} files of {size >> 20} MiB in all; at most {MOST.members} files of "
            f"{MOST.total_bytes >> 20} MiB are sent to nodes",
            where=str(folder),
            hint=_COPY_HINT,
        )


def _check_secrets(files: Mapping[str, Path], secrets: Iterable[str]) -> None:
    of_environment = (value for name, value in os.environ.items() if sounds_secret(name))
    needles = [secret.encode() for secret in {*secrets, *of_environment} if is_worth_hiding(secret)]
    for path in files.values():
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                continue
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                if any(content.find(needle) >= 0 for needle in needles):
                    raise UsageError("the file contains a key and is not sent to nodes", where=str(path),
                                     hint="Remove the key from the data.")  # fmt: skip


def _is_whole(target: Path, digest: str) -> bool:
    try:
        return target.is_dir() and digest_of_files(_files_of(target)) == digest
    except (UsageError, OSError):
        return False


@contextmanager
def _locked(path: Path) -> Generator[None]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
