"""Become a machine that denies some system calls: `python -m support.denied_calls unshare,mount COMMAND …`.

A filter of the kernel's answers the named calls with EPERM, for the command and all it starts, as the policies of
containers do. `prctl:seccomp` denies setting further filters.
"""

import ctypes
import os
import shutil
import sys

from console.sandbox.linux import kernel, seccomp

_ALLOW, _EPERM = 0x7FFF0000, 0x00050001
_SET_SECCOMP, _FILTER_MODE = 22, 2


def deny(names: list[str]) -> None:
    """Install the filter in this process."""
    numbers = {row.name: row.number for row in seccomp.read_table(kernel.MACHINE)}
    lines: list[bytes] = []
    for name in names:
        call, _, option = name.partition(":")
        lines += [_line(0x20, 0), _line(0x15, numbers[call], 0, 3 if option else 1)]
        if option:
            lines += [_line(0x20, 16), _line(0x15, {"seccomp": _SET_SECCOMP}[option], 0, 1)]
        lines.append(_line(0x06, _EPERM))
    program = b"".join([*lines, _line(0x06, _ALLOW)])
    code = ctypes.create_string_buffer(program, len(program))
    struct = (len(program) // 8).to_bytes(8, "little") + ctypes.addressof(code).to_bytes(8, "little")
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl_pointer(
        _SET_SECCOMP, _FILTER_MODE, ctypes.cast(ctypes.create_string_buffer(struct, 16), ctypes.c_void_p)
    )


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return code.to_bytes(2, "little") + bytes([if_true, if_false]) + value.to_bytes(4, "little")


if __name__ == "__main__":
    deny(sys.argv[1].split(","))
    os.execv(shutil.which(sys.argv[2]) or sys.argv[2], sys.argv[2:])
