"""Landlock: restricts the process to the given files, regardless of the user.

Files from Linux 5.13, TCP from 6.7, signals and abstract sockets from 6.12; `restrict` returns the version in force,
and other layers cover what it lacks. File attributes (stat) remain readable, which is a limit of the kernel.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Iterable

from console.sandbox.linux import kernel

assert sys.platform == "linux"

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_QUERY = 1
_PATH_BENEATH = 1
_LIST = 1 << 3
_READ = 1 << 2 | _LIST
_READ_FILE = 1 << 2
_WRITE_FILE = 1 << 1
_EXECUTE, _IOCTL = 1 << 0, 1 << 15
_SPECIAL = 1 << 6 | 1 << 9 | 1 << 11
"""Creation of character devices, sockets and block devices."""
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Number of file rights by version; 16 from version 5."""
_BITS_NET, _BITS_SCOPE = 0b11, 0b11


def version() -> int:
    """Return the Landlock version of the running kernel, 0 if it has none.

    Raises:
        OSError: a policy denies the query.
    """
    try:
        return kernel.syscall(_CREATE, None, 0, _VERSION_QUERY)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP):
            return 0
        raise


def restrict(listed: Iterable[str], read_only: Iterable[str], writable: Iterable[str], newest: int) -> int:
    """Confine the process to the given paths and return the version used, 0 without Landlock.

    Needs the no-new-privileges attribute. Paths that do not exist are skipped.

    Args:
        listed: folders whose names may be listed, at any depth.
        read_only: files and folders that may be read.
        writable: folders with all ordinary rights.
        newest: newest version to use.

    Raises:
        OSError: the kernel has Landlock and refuses it.
    """
    abi = min(version(), newest)
    if abi == 0:
        return 0
    rights = (1 << _FILE_RIGHTS.get(abi, 16)) - 1
    net = _BITS_NET if abi >= 4 else 0
    scope = _BITS_SCOPE if abi >= 6 else 0
    attributes = b"".join(word.to_bytes(8, "little") for word in (rights, net, scope))
    ruleset = kernel.syscall(_CREATE, attributes, 8 if abi < 4 else 16 if abi < 6 else 24, 0)
    try:
        for path in listed:
            _allow(ruleset, path, _LIST)
        for path in read_only:
            _allow(ruleset, path, _READ)
        for path in writable:
            _allow(ruleset, path, rights & ~(_EXECUTE | _IOCTL | _SPECIAL))
        _allow(ruleset, "/dev/null", _READ_FILE | _WRITE_FILE)
        kernel.syscall(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _READ_FILE | _WRITE_FILE
        rule = rights.to_bytes(8, "little") + fd.to_bytes(4, "little")
        kernel.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.create_string_buffer(rule, len(rule)), 0)
    finally:
        os.close(fd)
