"""A seccomp filter: no sockets, no new programs or processes, no signals to others, no riskier system calls.

Threads stay possible. What is refused fails with an error the code can see; nothing is killed. Known machines: x86-64
and 64-bit ARM; elsewhere there is no filter and the level says so.
"""

import ctypes
import errno
import os

from console.sandbox.linux import kernel

_SET_MODE_FILTER = 2
_PR_SET_SECCOMP = 22
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_CLONE_THREAD = 0x00010000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_FIRST_ARGUMENT = 0, 4, 16
_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_FIRST_UNKNOWN = 463
"""Calls newer than this filter are refused as if the kernel did not have them."""

_REFUSED_X86_64 = {
    "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "accept4": 288,
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322,
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "tkill": 200,
    "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "memfd_create": 319, "userfaultfd": 323,
    "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
    "bpf": 321, "perf_event_open": 298, "seccomp": 317, "keyctl": 250, "add_key": 248, "request_key": 249,
    "init_module": 175, "delete_module": 176, "finit_module": 313, "kexec_load": 246, "kexec_file_load": 320,
    "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179, "sethostname": 170,
    "setdomainname": 171, "settimeofday": 164, "adjtimex": 159, "clock_adjtime": 305, "iopl": 172, "ioperm": 173,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "shmget": 29, "msgget": 68, "semget": 64, "personality": 135,
}  # fmt: skip
_REFUSED_AARCH64 = {
    "socket": 198, "connect": 203, "accept": 202, "bind": 200, "listen": 201, "accept4": 242,
    "execve": 221, "execveat": 281,
    "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "tkill": 130,
    "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "memfd_create": 279, "userfaultfd": 282,
    "unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
    "bpf": 280, "perf_event_open": 241, "seccomp": 277, "keyctl": 219, "add_key": 217, "request_key": 218,
    "init_module": 105, "delete_module": 106, "finit_module": 273, "kexec_load": 104, "kexec_file_load": 294,
    "reboot": 142, "swapon": 224, "swapoff": 225, "acct": 89, "quotactl": 60, "sethostname": 161,
    "setdomainname": 162, "settimeofday": 170, "adjtimex": 171, "clock_adjtime": 266,
    "name_to_handle_at": 264, "open_by_handle_at": 265, "shmget": 194, "msgget": 186, "semget": 190, "personality": 92,
}  # fmt: skip
_REFUSED_EVERYWHERE = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "pidfd_open": 434, "pidfd_getfd": 438, "mount_setattr": 442, "memfd_secret": 447,
}  # fmt: skip
_ATTRIBUTES = {
    "x86_64": (90, 91, 92, 93, 94, 132, 188, 189, 190, 197, 198, 199, 235, 260, 261, 268, 280, 452),
    "aarch64": (5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 88, 452),
}
"""Changing owner, mode, times and extended attributes of files, which Landlock leaves alone."""
_CLONE3 = 435
_CLONE = {"x86_64": 56, "aarch64": 220}
_KILL = {"x86_64": (62, 234), "aarch64": (129, 131)}
"""kill and tgkill, whose first argument is a process id."""


def restrict(keep_attributes: bool) -> bool:
    """Install the filter for this process and all its threads; False on an unknown machine or an old kernel.

    Args:
        keep_attributes: also refuse to change the attributes of files, where no read-only mounts protect them.
    """
    if kernel.MACHINE not in _ARCH:
        return False
    program = _program(kernel.MACHINE, keep_attributes)
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


def _program(machine: str, keep_attributes: bool) -> bytes:
    """Write the filter in the kernel's small language: tests in a row, the first that applies decides."""
    denied = list((_REFUSED_X86_64 if machine == "x86_64" else _REFUSED_AARCH64).values())
    denied += _REFUSED_EVERYWHERE.values()
    denied += _ATTRIBUTES[machine] if keep_attributes else ()
    lines = [
        _line(_LOAD, _OFFSET_ARCH),
        _line(_EQUAL, _ARCH[machine], 1, 0),
        _refuse(errno.EPERM),
        _line(_LOAD, _OFFSET_NUMBER),
        _line(_AT_LEAST, _FIRST_UNKNOWN, 0, 1),
        _refuse(errno.ENOSYS),
        _line(_EQUAL, _CLONE3, 0, 1),
        _refuse(errno.ENOSYS),
    ]
    for number in denied:
        lines += [_line(_EQUAL, number, 0, 1), _refuse(errno.EPERM)]
    argument = _line(_LOAD, _OFFSET_FIRST_ARGUMENT)
    allow = _line(_RETURN, _ALLOW)
    thread = _line(_ANY_BIT, _CLONE_THREAD, 1, 0)
    lines += [_line(_EQUAL, _CLONE[machine], 0, 4), argument, thread, _refuse(errno.EPERM), allow]
    for number in _KILL[machine]:
        same_process = _line(_EQUAL, os.getpid(), 1, 0)
        lines += [_line(_EQUAL, number, 0, 4), argument, same_process, _refuse(errno.EPERM), allow]
    return b"".join([*lines, allow])


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return code.to_bytes(2, "little") + bytes([if_true, if_false]) + value.to_bytes(4, "little")


def _refuse(number: int) -> bytes:
    return _line(_RETURN, _ERRNO | number)
