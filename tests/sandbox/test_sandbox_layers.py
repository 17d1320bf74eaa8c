# ruff: noqa: ASYNC240 - tests look at small local files
"""What each layer of confinement holds by itself: the table of docs/sandbox.md, row by row."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.quick_rows import first_quick

from console.sandbox import attacks
from console.sandbox.linux import kernel, landlock, seccomp
from console.sandbox.worker import Layers, Worker, WorkerLost

LEVELS = {
    "limits": Layers(namespaces=False, landlock=0, seccomp=False),
    "namespaces": Layers(landlock=0, seccomp=False),
    "landlock": Layers(namespaces=False, seccomp=False),
    "seccomp": Layers(namespaces=False, landlock=0),
    "both": Layers(namespaces=False),
    "both, old": Layers(namespaces=False, landlock=2),
    "no mounts": Layers(mounts=False),
    "all": Layers(),
}
NAMESPACES = ("namespaces", "no mounts", "all")
LANDLOCK = ("landlock", "both", "both, old", "no mounts", "all")
SECCOMP = ("seccomp", "both", "both, old", "no mounts", "all")
MOUNTS = ("namespaces", "all")
ABI = landlock.version() if sys.platform == "linux" else 0
TCP, SCOPES = ABI >= 4, ABI >= 6
NEW_LANDLOCK = ("landlock", "both", "no mounts", "all")
"""Levels that use the newest Landlock of the kernel."""
pytestmark = pytest.mark.skipif(ABI == 0, reason="needs a kernel with Landlock")


class Attack(NamedTuple):
    code: str
    held_by: tuple[str, ...]
    """Levels at which it fails; at the others it succeeds."""


OF_DOCTOR = {attack.name: attack.code for attack in attacks.ATTACKS}
PRELUDE = f"""
{attacks.PRELUDE}
import struct
libc.syscall.restype = ctypes.c_long
def call(*words):
    result = libc.syscall(*(ctypes.c_long(word) if isinstance(word, int) else word for word in words))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
"""
PAIR = "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
HELD_BY = {
    "read a file": LANDLOCK,
    "read through a symlink": LANDLOCK,
    "list a folder": LANDLOCK,
    "write outside": (*MOUNTS, *LANDLOCK),
    "write to a given file": (*MOUNTS, *LANDLOCK),
    "truncate a given file": (*MOUNTS, *NEW_LANDLOCK, "both, old", "seccomp"),
    "change a mode": (*MOUNTS, *SECCOMP),
    "change times": (*MOUNTS, *SECCOMP),
    "key of another process": (*NAMESPACES, *LANDLOCK),
    "TCP": (*NAMESPACES, *(NEW_LANDLOCK if TCP else ()), *SECCOMP),
    "UDP": (*NAMESPACES, *SECCOMP),
    "Unix socket": SECCOMP,
    "signal a process": (*NAMESPACES, *(NEW_LANDLOCK if SCOPES else ()), *SECCOMP),
    "trace a process": (*NAMESPACES, *LANDLOCK, *SECCOMP),
    "slow a process down": (*NAMESPACES, *SECCOMP),
    "start a shell": (*LANDLOCK, *SECCOMP),
    "fork": SECCOMP,
    "4 GiB of memory": tuple(LEVELS),
    "large file": tuple(LEVELS),
    "fill the disk": MOUNTS,
    "500 open files": tuple(LEVELS),
}
"""Attacks of `doctor`, by the levels that hold them."""
ATTACKS = {name: Attack(OF_DOCTOR[name], held_by) for name, held_by in HELD_BY.items()} | {
    "change times of what it may read": Attack(
        "f = os.open(given, os.O_RDONLY)\nos.utime(f, (1, 1))\nassert os.fstat(f).st_mtime == 1", (*MOUNTS, *SECCOMP)
    ),
    "truncate what it may read": Attack(
        "os.close(os.open(given, os.O_RDONLY | os.O_TRUNC))\nassert os.stat(given).st_size == 0",
        (*MOUNTS, *NEW_LANDLOCK, *SECCOMP),
    ),
    "read an extended attribute": Attack("assert os.getxattr(secret, 'user.note') == b'canary'", SECCOMP),
    "flags of a file": Attack(
        "import fcntl\nf = os.open(given, os.O_RDONLY)\nv = bytearray(8)\nfcntl.ioctl(f, 0x80086601, v)\n"
        "fcntl.ioctl(f, 0x40086602, v)",
        (*MOUNTS, *SECCOMP),
    ),
    "abstract socket": Attack(
        "socket.socket(1).connect('\\0' + name)", (*NAMESPACES, *(NEW_LANDLOCK if SCOPES else ()), *SECCOMP)
    ),
    "datagram to a name": Attack(f"{PAIR}a.sendto(b'x', door)", SECCOMP),
    "datagram from a stream": Attack("a, b = socket.socketpair()\na.sendto(b'x', door)", tuple(LEVELS)),
    "connect a datagram pair": Attack(f"{PAIR}a.connect(door)", SECCOMP),
    "sendmsg to a name": Attack(f"{PAIR}a.sendmsg([b'x'], [], 0, door)", SECCOMP),
    "pass a descriptor": Attack(
        f"{PAIR}a.sendmsg([b'x'], [(1, 1, struct.pack('i', os.open('/dev/null', 0)))], 0, door)", SECCOMP
    ),
    "packets in sequence": Attack("socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)", SECCOMP),
    "handle on the engine": Attack("os.close(port._control.getsockopt(1, 77))", SECCOMP),
    "signal by ownership": Attack(
        "import fcntl\na, b = socket.socketpair()\nfcntl.fcntl(a, 8, victim)",
        (*NAMESPACES, *SECCOMP),
    ),
    "signal by ownership, otherwise": Attack(
        "import fcntl\na, b = socket.socketpair()\nfcntl.ioctl(a, 0x8901, struct.pack('i', victim))",
        (*NAMESPACES, *SECCOMP),
    ),
    "limits of another": Attack(
        "import resource\nresource.prlimit(victim, resource.RLIMIT_CORE, (0, 0))", (*NAMESPACES, *SECCOMP)
    ),
    "place of another": Attack("os.sched_setaffinity(victim, {0})", (*NAMESPACES, *SECCOMP)),
    "handle on another": Attack("os.pidfd_open(victim)", (*NAMESPACES, *SECCOMP)),
    "shared memory": Attack(
        "assert libc.shmctl(shared, 2, ctypes.create_string_buffer(200)) == 0", (*NAMESPACES, *SECCOMP)
    ),
    "watch a file": Attack(
        "n = libc.inotify_init1(0)\nassert libc.inotify_add_watch(n, secret.encode(), 0xFFF) > 0", SECCOMP
    ),
    "watch a folder": Attack(
        "import fcntl\nf = os.open(os.path.dirname(given), os.O_RDONLY)\nfcntl.fcntl(f, 1026, 2)\nos.close(f)", SECCOMP
    ),
    "a door of its own": Attack("os.mkfifo('fifo')", SECCOMP),
    "keys": Attack("call(numbers['add_key'], b'user', b'n', b'x', 1, -3)", SECCOMP),
    "calls by shared memory": Attack(
        "os.close(call(numbers['io_uring_setup'], 1, ctypes.create_string_buffer(200)))", SECCOMP
    ),
    "file without a name": Attack("os.close(os.memfd_create('x'))", SECCOMP),
    "user namespace": Attack("assert libc.unshare(0x10000000) == 0", SECCOMP),
}
OPTIONAL = (
    "trace a process", "read an extended attribute", "flags of a file", "handle on the engine", "keys",
    "calls by shared memory",
)  # fmt: skip
"""What not every kernel and file system offers: left out where it does not work without any layer."""


def _be_ordinary() -> None:
    """Be like a process of a user who is not root: the kernel protects root's from those who lack its capabilities."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()


class Scene(NamedTuple):
    """What is outside."""

    secret: str
    given: str
    """A file that the worker may read."""
    door: str
    """A Unix socket for datagrams, with a name."""
    tcp: int
    udp: int
    name: str
    victim: int
    shared: int


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    secret, given, door = tmp_path / "models.toml", tmp_path / "given" / "data.csv", tmp_path / "door"
    given.parent.mkdir()
    given.write_text("1,2")
    secret.write_text("api_key = 'canary'")
    secret.chmod(0o600)
    with contextlib.suppress(OSError):
        os.setxattr(secret, "user.note", b"canary")
    name = f"eval-console-{os.getpid()}"
    libc = ctypes.CDLL(None)
    shared = libc.shmget(0, 4096, 0o600 | 0o1000)
    victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, preexec_fn=_be_ordinary)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
    ):
        abstract.bind("\0" + name)
        abstract.listen()
        datagrams.bind(str(door))
        port = server.getsockname()[1]
        yield Scene(str(secret), str(given), str(door), port, port, name, victim.pid, shared)
    libc.shmctl(shared, 0, None)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()


async def outcomes(scene: Scene, layers: Layers, tried: dict[str, Attack]) -> dict[str, str]:
    """What each attack failed by at a level; empty if it did not."""
    numbers = {row.name: row.number for row in seccomp.read_table(kernel.MACHINE)}
    names = "\n".join(f"{key} = {value!r}" for key, value in scene._asdict().items())
    failed: dict[str, str] = {}
    worker = None
    for attack, (code, _) in tried.items():
        Path(scene.given).write_text("1,2")
        if worker is None or worker.is_lost:
            worker = await Worker.start(
                "console.sandbox.programs.cell",
                allow_weaker=True,
                layers=layers,
                read_only=[Path(scene.given).parent],
            )
            if layers.namespaces and not worker.level.namespaces:
                await worker.kill()
                pytest.skip("users may not make namespaces here")
            await worker.call("run", {"code": f"{PRELUDE}\n{names}\nnumbers = {numbers}"})
        try:
            result: dict[str, Any] = await worker.call("run", {"code": code})
            failed[attack] = f"{result['error']} {result['message']}".strip()
        except WorkerLost as lost:
            failed[attack] = lost.message
    if worker is not None:
        await worker.kill()
    return failed


@pytest.mark.parametrize("level", first_quick(sorted(LEVELS, key=lambda level: level != "both"), 3))
async def test_what_holds(scene: Scene, level: str) -> None:
    absent = await outcomes(scene, LEVELS["limits"], {name: ATTACKS[name] for name in OPTIONAL})
    tried = {name: attack for name, attack in ATTACKS.items() if not absent.get(name)}
    failed = await outcomes(scene, LEVELS[level], tried)
    expected = {name: level in attack.held_by for name, attack in tried.items()}
    assert {name: failed[name] for name in failed if bool(failed[name]) != expected[name]} == {}
