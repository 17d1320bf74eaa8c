"""What each layer of confinement holds by itself: the table of docs/sandbox.md, row by row."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from console.sandbox.linux import landlock
from console.sandbox.worker import Layers, Worker

LIMITS = Layers(namespaces=False, landlock=False, seccomp=False)
NAMESPACES = Layers(landlock=False, seccomp=False)
LANDLOCK = Layers(namespaces=False, seccomp=False)
SECCOMP = Layers(namespaces=False, landlock=False)
BOTH = Layers(namespaces=False)
ALL = Layers()
LEVELS = {
    "limits": LIMITS,
    "namespaces": NAMESPACES,
    "landlock": LANDLOCK,
    "seccomp": SECCOMP,
    "both": BOTH,
    "all": ALL,
}
ABI = landlock.version() if sys.platform == "linux" else 0
TCP, SCOPES = ABI >= 4, ABI >= 6
pytestmark = pytest.mark.skipif(ABI == 0, reason="needs a kernel with Landlock")


class Attack(NamedTuple):
    code: str
    held_by: tuple[str, ...]
    """Levels at which it fails; at the others it succeeds."""


ATTACKS = {
    "read a file": Attack("print(open(secret).read())", ("landlock", "both", "all")),
    "read through a symlink": Attack("os.symlink(secret, 'l')\nprint(open('l').read())", ("landlock", "both", "all")),
    "write outside": Attack("open(secret + '.new', 'w').write('x')", ("namespaces", "landlock", "both", "all")),
    "change times": Attack("os.utime(secret, (1, 1))", ("namespaces", "seccomp", "both", "all")),
    "tcp": Attack(
        "socket.create_connection(('127.0.0.1', tcp), 1)",
        ("namespaces", *(["landlock"] if TCP else []), "seccomp", "both", "all"),
    ),
    "udp": Attack("socket.socket(2, 2).sendto(b'x', ('127.0.0.1', tcp))", ("namespaces", "seccomp", "both", "all")),
    "abstract socket": Attack(
        "socket.socket(1).connect('\\0' + name)",
        ("namespaces", *(["landlock"] if SCOPES else []), "seccomp", "both", "all"),
    ),
    "signal": Attack("os.kill(victim, 0)", ("namespaces", *(["landlock"] if SCOPES else []), "seccomp", "both", "all")),
    "user namespace": Attack(
        "import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0", ("seccomp", "both", "all")
    ),
    "shell": Attack("assert os.system('true') == 0", ("landlock", "seccomp", "both", "all")),
    "fork": Attack("p = os.fork()\nif p == 0: os._exit(0)\nos.waitpid(p, 0)", ("seccomp", "both", "all")),
    "large file": Attack(
        "import signal\nsignal.signal(25, signal.SIG_IGN)\nopen('b', 'wb').write(bytes(100 << 20))", tuple(LEVELS)
    ),
    "memory": Attack("bytearray(4 << 30)", tuple(LEVELS)),
    "full disk": Attack("for n in range(80): open(str(n), 'wb').write(bytes(1 << 20))", ("namespaces", "all")),
}


class Scene(NamedTuple):
    secret: Path
    tcp: int
    name: str
    victim: int


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    secret = tmp_path / "models.toml"
    secret.write_text("api_key = 'canary'")
    name = f"eval-console-{os.getpid()}"
    victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + name)
        abstract.listen()
        yield Scene(secret, server.getsockname()[1], name, victim.pid)
    victim.kill()
    victim.communicate()


@pytest.mark.parametrize("level", LEVELS)
async def test_what_holds(scene: Scene, level: str) -> None:
    found: dict[str, bool] = {}
    for attack, (code, _) in ATTACKS.items():
        worker = await Worker.start("console.sandbox.programs.cell", allow_weaker=True, layers=LEVELS[level])
        if LEVELS[level].namespaces and not worker.level.namespaces:
            await worker.kill()
            pytest.skip("users may not make namespaces here")
        names = f"secret, tcp, name, victim = {str(scene.secret)!r}, {scene.tcp}, {scene.name!r}, {scene.victim}"
        result = await worker.call("run", {"code": f"import os, socket\n{names}\n{code}"})
        found[attack] = bool(result["error"])
        await worker.kill()
    assert found == {attack: level in held_by for attack, (_, held_by) in ATTACKS.items()}
