"""Attacks on the confinement: cells of hostile code, each of which tries one thing. `attack_scene` plays them.

A cell uses these names: `secret`, a file that is not the worker's; `given`, a file that it may read; `door`, the name
of a Unix socket; `tcp` and `udp`, ports of this machine; and `victim`, a process with a key in its environment. It
raises if it is refused, so a cell that runs to its end succeeded, unless its `end` says otherwise.
"""

from dataclasses import dataclass
from typing import Literal

CANARY = "canary-key-9"
"""Part of every secret: output that contains it shows a successful attack."""
PRELUDE = """
import ctypes, os, resource, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
"""
"""Code that runs before the first attack."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack."""

    area: str
    name: str
    code: str
    end: Literal["refused", "worker ended", "harmless"] = "refused"
    """Expected outcome in an effective sandbox: the code is refused, the worker ends, or the code has no effect."""
    wall_s: float = 20.0
    """Wall time of the call."""


_KEY_OF_ANOTHER = """
if sys.platform == "linux":
    print(open(f"/proc/{victim}/environ").read())
else:
    size = ctypes.c_size_t(1 << 18)
    buffer, words = ctypes.create_string_buffer(size.value), (ctypes.c_int * 3)(1, 49, victim)
    assert libc.sysctl(words, 3, buffer, ctypes.byref(size), None, 0) == 0
    print(buffer.raw[:size.value].decode("utf-8", "replace"))
"""
_TRACE = """
if sys.platform == "linux":
    assert libc.ptrace(0x4206, victim, None, None) == 0
else:
    assert libc.ptrace(14, victim, None, 0) == 0
"""
_LARGE_FILE = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    open("large", "wb").write(bytes(100 << 20))
finally:
    os.remove("large")
"""
_MANY_FILES = """
try:
    for number in range(80):
        open(f"fill-{number}", "wb").write(bytes(1 << 20))
finally:
    for written in os.listdir("."):
        if written.startswith("fill-"):
            os.remove(written)
"""
_OPEN_FILES = """
files = []
try:
    for number in range(500):
        files.append(open("/dev/null"))
finally:
    for file in files:
        file.close()
"""
_GARBAGE = """
for number in range(3, 128):
    try:
        os.write(number, b"\\xff" * 4096)
    except OSError:
        pass
while True: pass
"""

ATTACKS = (
    Attack("files", "read a file", "print(open(secret).read())"),
    Attack("files", "read through a symlink", "os.symlink(secret, 'soft')\nprint(open('soft').read())"),
    Attack("files", "read through a hard link", "os.link(secret, 'hard')\nprint(open('hard').read())"),
    Attack("files", "list a folder", "print(os.listdir(os.path.dirname(secret)))"),
    Attack("files", "write outside", "open(secret + '.new', 'w').write('x')"),
    Attack("files", "write to a given file", "open(given, 'a').write('x')"),
    Attack("files", "truncate a given file", "os.truncate(given, 0)"),
    Attack("files", "change a mode", "os.chmod(secret, 0o640)\nassert os.stat(secret).st_mode & 0o40"),
    Attack("files", "change times", "os.utime(secret, (1, 1))\nassert os.stat(secret).st_mtime == 1"),
    Attack("files", "delete a file", "os.remove(secret)"),
    Attack("files", "move a file", "os.rename(secret, 'moved')"),
    Attack("keys", "key in the environment", f"assert {CANARY!r} in str(os.environ)"),
    Attack("keys", "key of another process", _KEY_OF_ANOTHER),
    Attack("network", "TCP", "socket.create_connection(('127.0.0.1', tcp), 1)"),
    Attack("network", "UDP", "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', udp))"),
    Attack("network", "look up a name", "print(socket.getaddrinfo('example.com', 80))"),
    Attack("network", "Unix socket", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', door)"),
    Attack("processes", "signal a process", "os.kill(victim, 0)"),
    Attack("processes", "trace a process", _TRACE),
    Attack("processes", "slow a process down", "os.setpriority(os.PRIO_PROCESS, victim, 19)"),
    Attack("processes", "start a shell", "assert os.system('true') == 0"),
    Attack("processes", "become another program", "os.execv('/bin/sh', ['sh', '-c', 'exit 3'])"),
    Attack("processes", "fork", "child = os.fork()\nif child == 0: os._exit(0)\nos.waitpid(child, 0)"),
    Attack("limits", "4 GiB of memory", "bytearray(4 << 30)"),
    Attack("limits", "large file", _LARGE_FILE),
    Attack("limits", "fill the disk", _MANY_FILES),
    Attack("limits", "500 open files", _OPEN_FILES),
    Attack("limits", "raise a limit", "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)"),
    Attack("limits", "endless loop", "while True: pass", "worker ended", 0.5),
    Attack(
        "limits",
        "endless loop that blocks signals",
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\nwhile True: pass",
        "worker ended",
        0.5,
    ),
    Attack(
        "engine",
        "flood of output",
        "for _ in range(50):\n    os.write(1, bytes(1 << 20))\n    os.write(2, bytes(1 << 20))",
        "harmless",
    ),
    Attack("engine", "flood of messages", "while True: port.tell('x', 'y' * 100000)", "worker ended"),
    Attack("engine", "garbage on the connection", _GARBAGE, "worker ended"),
    Attack("engine", "crash", "ctypes.string_at(0)", "worker ended"),
    Attack("engine", "exit", "os._exit(3)", "worker ended"),
)
"""The attacks played by `doctor --sandbox-attacks` and by the tests."""
