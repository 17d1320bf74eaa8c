"""Plays attacks in a real worker on this machine and checks from outside whether they succeeded.

All targets are made for the purpose: files in a temporary folder, sockets of this process, and an idle process.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from console.sandbox.attacks import ATTACKS, CANARY, PRELUDE, Attack
from console.sandbox.level import Level
from console.sandbox.worker import Layers, Worker, WorkerLost

_KEY = "EVAL_CONSOLE_ATTACKED_KEY"
_SECRET = f"api_key = '{CANARY}'"
_GIVEN = "1,2"
_TEXT = 160
"""Maximum length of a reason."""


@dataclass(frozen=True, slots=True)
class AttackResult:
    """Outcome of one attack."""

    attack: Attack
    held: bool
    reason: str
    """How the code was stopped, or how far it got."""
    level: Level
    """Confinement of its worker."""


async def play_attacks(
    attacks: Sequence[Attack] = ATTACKS, *, layers: Layers | None = None
) -> AsyncIterator[AttackResult]:
    """Play attacks one after another, in one worker as long as it lives, and yield each result.

    Raises:
        WorkerLost: no worker can be started.
    """
    with _scene() as scene:
        worker = None
        try:
            for attack in attacks:
                if worker is None or worker.is_lost:
                    worker = await _start(scene, layers)
                yield await _play(attack, worker, scene)
        finally:
            if worker is not None:
                await worker.kill()


async def _start(scene: "_Scene", layers: Layers | None) -> Worker:
    worker = await Worker.start(
        "console.sandbox.programs.cell", read_only=[scene.given], allow_weaker=True, layers=layers
    )
    names = "\n".join(f"{name} = {value!r}" for name, value in scene.names().items())
    await worker.call("run", {"code": f"{PRELUDE}\n{names}"})
    return worker


async def _play(attack: Attack, worker: Worker, scene: "_Scene") -> AttackResult:
    output = error = lost = ""
    try:
        result = await worker.call("run", {"code": attack.code}, wall_s=attack.wall_s)
        output = str(result["output"])
        error = f"{result['error']}: {result['message']}".strip(": ") if result["error"] else ""
        error = "it had no effect" if error == "AssertionError" else error
    except WorkerLost as loss:
        lost = loss.message
    damage = await asyncio.to_thread(scene.find_damage)
    if damage or CANARY in output:
        return AttackResult(attack, False, damage or "it read the secret", worker.level)
    held = {
        "refused": bool(error),
        "worker ended": bool(lost),
        "harmless": True,
    }[attack.end]
    return AttackResult(attack, held, (error or lost or "it ran to its end")[:_TEXT], worker.level)


class _Scene:
    """The targets of the attacks."""

    def __init__(self, folder: Path, tcp: socket.socket, datagrams: tuple[socket.socket, socket.socket]) -> None:
        self._secret, self.given, self._door = folder / "private" / "models.toml", folder / "data.csv", folder / "door"
        self._secret.parent.mkdir()
        self._tcp = tcp
        self._udp, self._unix = datagrams
        self._unix.bind(str(self._door))
        for each in (tcp, *datagrams):
            each.setblocking(False)
        self._restore()
        self._victim = self._start_victim()

    def names(self) -> dict[str, str | int]:
        """Return the variables of the attacks."""
        return {
            "secret": str(self._secret),
            "given": str(self.given),
            "door": str(self._door),
            "tcp": self._tcp.getsockname()[1],
            "udp": self._udp.getsockname()[1],
            "victim": self._victim.pid,
        }

    def find_damage(self) -> str:
        """Return what an attack changed or reached, after undoing it; empty if nothing."""
        damage = self._damage()
        if damage:
            self._restore()
        return damage

    def close(self) -> None:
        """End the process."""
        self._victim.kill()
        self._victim.communicate()

    def _damage(self) -> str:
        state = self._secret.stat() if self._secret.exists() else None
        if state is None or self._secret.read_text(encoding="utf-8") != _SECRET:
            return "the file changed"
        if state.st_mode & 0o777 != 0o600 or state.st_mtime != self._mtime:
            return "the file's attributes changed"
        if self.given.read_text(encoding="utf-8") != _GIVEN:
            return "the given file changed"
        if len(list(self._secret.parent.iterdir())) != 1:
            return "a file was written outside"
        if self._victim.poll() is not None:
            return "the process was ended"
        with contextlib.suppress(BlockingIOError):
            self._tcp.accept()[0].close()
            return "a connection arrived"
        for each in (self._udp, self._unix):
            with contextlib.suppress(BlockingIOError):
                each.recv(1)
                return "a datagram arrived"
        return ""

    def _restore(self) -> None:
        for path in self._secret.parent.iterdir():
            path.unlink()
        self._secret.write_text(_SECRET, encoding="utf-8")
        self._secret.chmod(0o600)
        self._mtime = self._secret.stat().st_mtime
        self.given.write_text(_GIVEN, encoding="utf-8")

    def _start_victim(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-c", "input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {_KEY: CANARY},
        )


@contextlib.contextmanager
def _scene() -> Generator[_Scene]:
    with (
        tempfile.TemporaryDirectory(prefix="attacks-") as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unix,
        _key_in_environment(),
    ):
        udp.bind(("127.0.0.1", 0))
        scene = _Scene(Path(folder).resolve(), tcp, (udp, unix))
        try:
            yield scene
        finally:
            scene.close()


@contextlib.contextmanager
def _key_in_environment() -> Generator[None]:
    os.environ[_KEY] = CANARY
    try:
        yield
    finally:
        del os.environ[_KEY]
