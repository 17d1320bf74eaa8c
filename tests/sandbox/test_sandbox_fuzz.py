"""System calls and messages at random from inside the box, with fixed seeds: nothing outside changes, every call ends.

`EVAL_CONSOLE_SANDBOX` is the number of rounds (`make soak` plays many); each round is a worker of its own.
"""

import contextlib
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from console.sandbox.limits import WorkerLimits
from console.sandbox.linux import landlock
from console.sandbox.worker import Layers, Worker, WorkerError, WorkerLost

CELL = "console.sandbox.programs.cell"
ROUNDS = int(os.environ.get("EVAL_CONSOLE_SANDBOX", "3"))
CALLS = 300
LEVELS = {"both": Layers(namespaces=False), "no mounts": Layers(mounts=False), "all": Layers()}
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="confinement is made of Linux features"),
    pytest.mark.timeout(60 + 30 * ROUNDS),
]


class Outside(NamedTuple):
    """What must stay as it is."""

    folder: Path
    victim: subprocess.Popen[bytes]
    datagrams: socket.socket
    streams: socket.socket

    def state(self) -> list[Any]:
        """Everything about it that a worker could have changed."""
        files = [
            (path.name, path.lstat()[:7], path.lstat().st_mtime_ns, path.read_bytes(), os.listxattr(path))
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        ]
        names = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))
        pid = self.victim.pid
        limits = [resource.prlimit(pid, kind) for kind in range(16)]
        return [files, names, limits, os.getpriority(os.PRIO_PROCESS, pid), os.sched_getaffinity(pid), os.umask(0o22)]

    def assert_quiet(self) -> None:
        """Nobody called, wrote or ended it."""
        assert self.victim.poll() is None
        for door in (self.datagrams, self.streams):
            with pytest.raises(BlockingIOError):
                door.recv(1) if door is self.datagrams else door.accept()


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "secret.txt").write_text("canary")
    (folder / "secret.txt").chmod(0o600)
    (folder / "given").mkdir()
    (folder / "given" / "data.csv").write_text("1,2")
    victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams, socket.socket(socket.AF_UNIX) as streams:
        for door, name in ((datagrams, "datagrams"), (streams, "streams")):
            door.bind(str(folder / name))
            door.settimeout(0)
        streams.listen()
        os.umask(0o22)
        yield Outside(folder, victim, datagrams, streams)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()


FUZZ = """
import ctypes, os, random, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
signal.signal(signal.SIGALRM, lambda number, frame: None)
signal.siginterrupt(signal.SIGALRM, True)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
pool = random.Random(seed)
folder = folder_name.encode()
texts = [b"/secret.txt", b"/given/data.csv", b"/given", b"/datagrams", b"/streams", b"/new", b""]
buffers = [ctypes.create_string_buffer(folder + text + b"\\0", 4096) for text in texts]
buffers += [ctypes.create_string_buffer(b"\\x01\\0" + folder + b"/datagrams\\0", 4096)]
buffers += [ctypes.create_string_buffer(bytes(pool.randrange(256) for _ in range(256)), 4096) for _ in range(4)]
pointers = [ctypes.addressof(buffer) for buffer in buffers]
plain = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 16, 63, 0o1000, 0o1002, 0o600, 4096, -1, -100, victim, parent, 1 << 31, 1 << 32]
skipped = set(skip)
numbers = [number for number in range(480) if number not in skipped]
for count in range(calls):
    if count % 20 == 0:
        port.tell("calls", count)
    number = pool.choice(numbers) | pool.choice([0] * 15 + [0x40000000])
    words = [pool.choice(pointers) if pool.random() < 0.4 else pool.choice(plain) for _ in range(6)]
    libc.syscall(ctypes.c_long(number), *(ctypes.c_long(word) for word in words))
"""
ENDING = (
    *("exit", "exit_group", "pause", "rt_sigsuspend", "rt_sigreturn", "uretprobe", "uprobe"),
    *("munmap", "mremap", "mmap", "mprotect", "brk", "close", "close_range", "shutdown", "dup2", "dup3"),
)
"""Calls that end or stop the worker by themselves, which would only shorten the rounds."""


@pytest.mark.parametrize("level", LEVELS)
async def test_random_system_calls_change_nothing_outside(outside: Outside, level: str) -> None:
    from console.sandbox.linux import kernel, seccomp

    if landlock.version() < 1 or kernel.MACHINE not in seccomp.MACHINES:
        pytest.skip("needs Landlock and a filter")
    skip = [row.number for row in seccomp.read_table(kernel.MACHINE) if row.name in ENDING]
    before, told = outside.state(), list[Any]()
    for seed in range(ROUNDS):
        box = await Worker.start(
            CELL,
            allow_weaker=True,
            layers=LEVELS[level],
            read_only=[outside.folder / "given"],
            limits=WorkerLimits(call_s=6, memory_bytes=512 << 20),
        )
        facts = f"seed, calls, skip, victim, parent = {seed}, {CALLS}, {skip}, {outside.victim.pid}, {os.getpid()}"
        try:
            code = f"{facts}\nfolder_name = {str(outside.folder)!r}\n{FUZZ}"
            await box.call("run", {"code": code}, on_tell=lambda kind, data: told.append(data))
        except (WorkerLost, WorkerError):
            pass
        await box.kill()
        outside.assert_quiet()
        assert outside.state() == before, f"seed {seed}"
    assert len(told) > 10 * ROUNDS, "most calls were made"
    box = await Worker.start(CELL, allow_weaker=True, layers=LEVELS[level])
    assert (await box.call("run", {"code": "print(1)"}))["output"] == "1\n"
    await box.kill()


def any_value(pool: random.Random, depth: int = 0) -> Any:
    """Return any JSON value, with the words of the protocol more often than others."""
    plain: list[Any] = [None, True, -1, 0, 10**30, 1.5, "", "model", "cell", "x" * 1000, "\ud800", "call", "result"]
    if depth > 3 or pool.random() < 0.5:
        return pool.choice(plain)
    if pool.random() < 0.5:
        return [any_value(pool, depth + 1) for _ in range(pool.randrange(5))]
    names = ["ask", "tell", "result", "error", "data", "type", "message", "ready", "level", "failed", "z"]
    return {pool.choice(names): any_value(pool, depth + 1) for _ in range(pool.randrange(5))}


def any_frame(pool: random.Random) -> bytes:
    """Return a frame: of the protocol's form, of any form, or with a length that does not fit."""
    kind = pool.choice(["ask", "tell", "result", "error"])
    frame = pool.choice([{kind: any_value(pool), "data": any_value(pool)}, {kind: "cell"}, any_value(pool)])
    body = json.dumps(frame).encode()
    body = pool.choice([body] * 6 + [body[: len(body) // 2], bytes(pool.randrange(256) for _ in range(40)), b""])
    size = pool.choice([len(body)] * 8 + [pool.randrange(1 << 32), len(body) + 7, 0])
    return size.to_bytes(4, "big") + body


async def test_random_messages_end_every_call() -> None:
    told: list[Any] = []

    async def answer(kind: str, data: Any) -> Any:
        return None

    for seed in range(3 * ROUNDS):
        pool = random.Random(seed)
        told.clear()
        box = await Worker.start(CELL, allow_weaker=True, limits=WorkerLimits(call_s=3, call_messages=200))
        stream = b"".join(any_frame(pool) for _ in range(pool.choice([1, 5, 300])))
        code = f"import os\nport._control.sendall({stream!r})\nos._exit(0)"
        with contextlib.suppress(WorkerLost, WorkerError):
            await box.call("run", {"code": code}, on_tell=lambda kind, _: told.append(kind), on_ask=answer)
        assert len(told) <= 200
        assert all(type(kind) is str for kind in told)
        await box.kill()
        assert box.is_lost
