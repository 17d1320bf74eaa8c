"""Whole files that are either the old or the new one, also after a power cut."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, *data: bytes) -> None:
    """Replace `path` by `data`, which may come in parts: temporary file beside it, sync, rename, sync of the folder.

    Raises:
        OSError: the file could not be written; the old one is untouched.
    """
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
