"""System calls that Python lacks, through libc; every failure is an OSError with the kernel's reason."""

import ctypes
import os
import platform

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

MACHINE = platform.machine()
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_CAPABILITY_VERSION = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
_Word = int | bytes | ctypes.Array[ctypes.c_char] | None


def syscall(number: int, *arguments: _Word) -> int:
    """Make a system call by number; integers are passed as machine words."""
    words = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    return _check(int(_libc.syscall(ctypes.c_long(number), *words)))


def prctl(option: int, value: int = 0) -> None:
    """Set one attribute of the calling process."""
    words = [ctypes.c_ulong(word) for word in (value, 0, 0, 0)]
    _check(int(_libc.prctl(ctypes.c_int(option), *words)))


def prctl_pointer(option: int, value: int, pointer: ctypes.c_void_p) -> None:
    """Set an attribute given by a pointer."""
    _check(int(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), pointer, 0, 0)))


def unshare(flags: int) -> None:
    """Move the process into new namespaces of the given kinds."""
    _check(int(_libc.unshare(ctypes.c_int(flags))))


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount a file system."""
    texts = [text.encode() for text in (source, target, kind)]
    _check(int(_libc.mount(*texts, ctypes.c_ulong(flags), data.encode() or None)))


def drop_capabilities() -> None:
    """Drop every capability of the calling process, permanently once no new privileges can be gained."""
    header = _CAPABILITY_VERSION.to_bytes(4, "little") + bytes(4)
    syscall(_CAPSET[MACHINE], header, bytes(24))


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
