"""Atomic file replacement that survives a power cut, and private files and folders."""

import errno
import io
import os
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO

from console.store.durable import sync_file, sync_folder

PRIVATE = 0o600
"""File mode of everything in a run: only the owner can read prompts and answers, regardless of the umask."""
PRIVATE_FOLDER = 0o700
_LARGEST = 1 << 30
"""Maximum size of a file that is read at once."""


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


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; a device or a pipe might deliver endless bytes, or block forever.

    Raises:
        OSError: it cannot be opened, or is not an ordinary file.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return os.fdopen(fd, "rb")
    os.close(fd)
    raise OSError(errno.EINVAL, "it is not an ordinary file", str(path))


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
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE)
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
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE)
    return os.fdopen(fd, "a+b")


def create_private(path: Path) -> BinaryIO:
    """Open an empty file for writing that only its owner can read, replacing any file of that name.

    Raises:
        OSError: the file cannot be opened.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE)
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
