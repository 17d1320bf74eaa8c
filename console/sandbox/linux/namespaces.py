"""New user, process, network, mount and IPC namespaces: nothing outside can be seen, signaled or reached.

Works for any user if the kernel allows unprivileged namespaces. The caller must fork afterwards: the first child is
process 1 of the new process namespace, and when it ends, the kernel ends everything inside.
"""

import contextlib
import os
from pathlib import Path

from console.sandbox.linux import kernel

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET, _NEWUTS = (
    0x00020000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
    0x04000000,
)
_INNER_ID = 65534
"""User and group id inside: nobody."""
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_READ_ONLY, _ATTR_NO_SETUID = 1, 2


def enter() -> str:
    """Move the calling process into new namespaces; return why that is forbidden, empty if it worked."""
    user, group = os.getuid(), os.getgid()
    try:
        kernel.unshare(_NEWUSER | _NEWPID | _NEWNET | _NEWNS | _NEWIPC | _NEWUTS)
    except OSError as error:
        return f"unshare: {error.strerror}"
    try:
        _write("setgroups", "deny")
        _write("uid_map", f"{_INNER_ID} {user} 1")
        _write("gid_map", f"{_INNER_ID} {group} 1")
    except OSError as error:
        return f"/proc/self/uid_map: {error.strerror}"
    return ""


def arrange_mounts(scratch: str, size: int) -> str:
    """Make every file system read-only and mount an empty one of limited size at `scratch`.

    Returns the reason for a failure, empty on success; partial results stay usable. Call it in process 1, which also
    gets its own /proc, if allowed.
    """
    step = "mount"
    try:
        kernel.mount("none", "/", "", _MS_REC | _MS_PRIVATE)
        options = f"size={size},nr_inodes=20000,mode=700"
        kernel.mount("scratch", scratch, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)
        os.chdir(scratch)
        step = "mount_setattr"
        _set_attributes(b"/", _AT_RECURSIVE, _ATTR_READ_ONLY | _ATTR_NO_SETUID, 0)
        _set_attributes(os.fsencode(scratch), 0, 0, _ATTR_READ_ONLY)
    except OSError as error:
        return f"{step}: {error.strerror}"
    with contextlib.suppress(OSError):
        kernel.mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    return ""


def _set_attributes(path: bytes, flags: int, to_set: int, to_clear: int) -> None:
    attributes = to_set.to_bytes(8, "little") + to_clear.to_bytes(8, "little") + bytes(16)
    kernel.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, attributes, len(attributes))


def _write(name: str, text: str) -> None:
    Path("/proc/self", name).write_text(text, encoding="ascii")
