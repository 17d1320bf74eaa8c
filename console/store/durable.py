"""Makes data and names survive a power cut, as each system requires.

Nothing else syncs, so the number of calls, and thus their cost, is the same on all systems.
"""

import errno
import fcntl
import os
import sys
from pathlib import Path

_REFUSED = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
"""Errors from file systems that lack the operation, such as shared folders of virtual machines."""


def sync_data(fd: int) -> None:
    """Make a file's contents durable; its times may be lost.

    Raises:
        OSError: the disk does not confirm it.
    """
    if sys.platform == "linux":
        os.fdatasync(fd)
    else:
        sync_file(fd)


def sync_file(fd: int) -> None:
    """Make a file durable.

    On macOS, `fsync` leaves data in the cache of the drive, and only `F_FULLFSYNC` writes it to the medium. Where a
    file system lacks that, such as a network share, `fsync` has to suffice.

    Raises:
        OSError: the disk does not confirm it.
    """
    if sys.platform == "darwin":
        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError as error:
            if error.errno not in (*_REFUSED, errno.ENOTTY):
                raise
        else:
            return
    os.fsync(fd)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, on file systems that support it.

    Raises:
        OSError: the disk refused.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_file(fd)
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
    finally:
        os.close(fd)
