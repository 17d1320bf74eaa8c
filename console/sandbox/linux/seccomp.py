"""A seccomp filter: no sockets, no new programs or processes, nothing that reaches another process.

The decision for each system call comes from the table `syscalls.tsv` next to this file; calls that are missing, newer,
or of another numbering (32 bit, x32) fail as unknown. Threads stay possible. Refused calls fail with an error visible
to the code; nothing is killed. Supported machines: x86-64 and 64-bit ARM; elsewhere there is no filter, as the level
reports.
"""

import ctypes
import errno
import os
from dataclasses import dataclass
from pathlib import Path

from console.sandbox.linux import kernel

TABLE = Path(__file__).with_name("syscalls.tsv")
MACHINES = ("x86_64", "aarch64")
"""Columns of the table after the name."""
_SET_MODE_FILTER = 2
_PR_SET_SECCOMP = 22
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _MASK, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_ARGUMENTS = 0, 4, 16
_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE_THREAD = 0x00010000
_AF_UNIX, _SOCK_STREAM, _SOCK_FLAGS = 1, 1, 0o2004000
"""Flags that may be combined: close-on-exec and non-blocking."""
_TRUNCATE, _TRUNCATE_AND_MODE = 0o1000, 0o1003
_SOCKET_OPTIONS = (3, 4, 38, 39)
"""Options of sockets that may be read: type, error, protocol, domain."""
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Terminal requests that are allowed: terminal test, window size, bytes to read, blocking mode, close-on-exec."""
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1034)
"""File-control commands that are allowed: duplicates, flags, record locks, pipe sizes."""
_PRCTLS = (2, 3, 15, 16, 21, 23, 39, 0x53564D41)
"""Process attributes that are allowed: names of threads and memory areas may be set; the others only query."""


@dataclass(frozen=True, slots=True)
class Row:
    """One system call and its decision."""

    name: str
    number: int
    decision: str
    reaches: str
    """Description of what the call could reach."""


@dataclass(frozen=True, slots=True)
class Protection:
    """Protection outside the scratch folder that other layers already provide."""

    attributes: bool
    """True if read-only mounts protect mode, owner and times of files."""
    truncation: bool
    """True if read-only mounts or Landlock 3 protect the lengths of files."""


def read_table(machine: str) -> list[Row]:
    """Return the system calls of a machine, by number."""
    rows: list[Row] = []
    column = 1 + MACHINES.index(machine)
    for line in TABLE.read_text(encoding="ascii").splitlines():
        fields = line.split("\t")
        if not line.startswith("#") and fields[column].isdigit():
            rows.append(Row(fields[0], int(fields[column]), fields[3], fields[4]))
    return sorted(rows, key=lambda row: row.number)


def restrict(protection: Protection) -> bool:
    """Install the filter for this process and all its threads; False on an unknown machine or an old kernel."""
    if kernel.MACHINE not in _ARCH:
        return False
    program = make_program(kernel.MACHINE, protection, os.getpid())
    code = ctypes.create_string_buffer(program, len(program))
    header = len(program) // 8
    struct = ctypes.create_string_buffer(
        header.to_bytes(8, "little") + ctypes.addressof(code).to_bytes(8, "little"), 16
    )
    try:
        kernel.prctl_pointer(_PR_SET_SECCOMP, _SET_MODE_FILTER, ctypes.cast(struct, ctypes.c_void_p))
    except OSError:
        return False
    return True


def make_program(machine: str, protection: Protection, pid: int) -> bytes:
    """Build the BPF program: ranges of numbers in ascending order, each with its answer.

    Args:
        machine: one of `MACHINES`.
        protection: operations that need not be refused.
        pid: the process that may be signaled.
    """
    answers = _answers(protection, pid)
    lines = [_line(_LOAD, _OFFSET_ARCH), _line(_EQUAL, _ARCH[machine], 1, 0), _refuse(errno.ENOSYS)]
    lines.append(_line(_LOAD, _OFFSET_NUMBER))
    for end, decision in _decision_ranges(read_table(machine)):
        answer = answers[decision]
        lines += [_line(_AT_LEAST, end, len(answer), 0), *answer]
    return b"".join([*lines, _refuse(errno.ENOSYS)])


def _decision_ranges(rows: list[Row]) -> list[tuple[int, str]]:
    """Return ranges of equal decisions from number 0, each as its end (exclusive) and the decision."""
    ranges: list[tuple[int, str]] = []
    for row in rows:
        start = ranges[-1][0] if ranges else 0
        if row.number > start:
            ranges.append((row.number, "absent"))
        if ranges and ranges[-1][1] == row.decision:
            ranges.pop()
        ranges.append((row.number + 1, row.decision))
    return ranges


def _answers(protection: Protection, pid: int) -> dict[str, list[bytes]]:
    """Return the instructions for each decision of the table; each ends with a return."""
    allow, refuse = _line(_RETURN, _ALLOW), _refuse(errno.EPERM)
    first, second = _load_argument(0), _load_argument(1)
    plain_pair = _line(_MASK, 0xFFFFFFFF & ~_SOCK_FLAGS)
    return {
        "allow": [allow],
        "refuse": [refuse],
        "absent": [_refuse(errno.ENOSYS)],
        "unsupported": [_refuse(errno.EOPNOTSUPP)],
        "attribute": [allow if protection.attributes else _refuse(0)],
        "truncation": [allow if protection.truncation else refuse],
        "thread": [first, _line(_ANY_BIT, _CLONE_THREAD, 0, 1), allow, refuse],
        "own-process": _one_of(0, (pid,)),
        "self": _one_of(0, (0, pid)),
        "stream-pair": [
            *(first, _line(_EQUAL, _AF_UNIX, 0, 4), second, plain_pair, _line(_EQUAL, _SOCK_STREAM, 0, 1)),
            *(allow, refuse),
        ],
        "no-address": [
            *(_load_argument(4), _line(_EQUAL, 0, 0, 3), _load_argument(4, high=True), _line(_EQUAL, 0, 0, 1)),
            *(allow, refuse),
        ],
        "no-truncation-1": _without_truncation(1),
        "no-truncation-2": _without_truncation(2),
        "socket-option": _one_of(2, _SOCKET_OPTIONS),
        "ioctl": _one_of(1, _IOCTLS, errno.ENOTTY),
        "fcntl": _one_of(1, _FCNTLS),
        "prctl": _one_of(0, _PRCTLS),
    }


def _without_truncation(argument: int) -> list[bytes]:
    """Allow opening files, but not truncating read-only ones, which old kernels treat as reading."""
    return [
        *(_load_argument(argument), _line(_MASK, _TRUNCATE_AND_MODE)),
        *(_line(_EQUAL, _TRUNCATE, 2, 0), _line(_EQUAL, _TRUNCATE_AND_MODE, 1, 0)),
        *(_line(_RETURN, _ALLOW), _refuse(errno.EPERM)),
    ]


def _one_of(argument: int, values: tuple[int, ...], otherwise: int = errno.EPERM) -> list[bytes]:
    """Allow a call if an argument (an `int`, so its lower half) is one of the values."""
    lines = [_load_argument(argument)]
    for value in values:
        lines += [_line(_EQUAL, value, 0, 1), _line(_RETURN, _ALLOW)]
    return [*lines, _refuse(otherwise)]


def _load_argument(number: int, high: bool = False) -> bytes:
    return _line(_LOAD, _OFFSET_ARGUMENTS + 8 * number + 4 * high)


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return code.to_bytes(2, "little") + bytes([if_true, if_false]) + value.to_bytes(4, "little")


def _refuse(number: int) -> bytes:
    """Return with an error; 0 pretends success."""
    return _line(_RETURN, _ERRNO | number)
