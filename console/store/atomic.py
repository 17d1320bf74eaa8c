"""Files that are either the old or the new one, also after a power cut; private files and folders."""

import errno
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600
"""Mode of every file of a run: what a model was asked and has answered is its owner's alone, whatever the umask."""
PRIVATE_FOLDER = 0o700


def write_atomically(path: Path, *data: bytes, mode: int = 0o644, is_derived: bool = False) -> None:
    """Replace `path` by `data`, which may come in parts: temporary file beside it, sync, rename, sync of the folder.

    What is derived is not synced: a power cut may cost it, and whoever reads it checks it and makes it anew.

    Raises:
        OSError: the file could not be written, and the old one is untouched; or the new one is not known to be durable.
    """
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(data)
            file.flush()
            os.fchmod(fd, mode)
            if not is_derived:
                os.fsync(fd)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if not is_derived:
        sync_folder(path.parent)


def write_private(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Write a file that nobody but its owner can read.

    Raises:
        OSError: it could not be written whole.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE)
    with os.fdopen(fd, "wb") as file:
        os.fchmod(fd, PRIVATE)
        file.write(data)
        file.flush()
        if sync:
            os.fsync(fd)


def open_private(path: Path) -> BinaryIO:
    """Open a file for reading and appending; if it is new, nobody but its owner can read it.

    Raises:
        OSError: it cannot be opened.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE)
    return os.fdopen(fd, "a+b")


def make_private_folder(path: Path) -> None:
    """Make a folder that nobody but its owner can enter, and make its name durable.

    Raises:
        OSError: it could not be made, or it exists (FileExistsError).
    """
    path.mkdir(mode=PRIVATE_FOLDER)
    path.chmod(PRIVATE_FOLDER)  # a umask may have taken the owner's rights away
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder survive a power cut, on file systems that can.

    Raises:
        OSError: the disk refused.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # such as shared folders of virtual machines
            raise
    finally:
        os.close(fd)
