"""Processes of one machine over the socket: each is a way of its own to the keeper, most of them in one event loop."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console.engine.background import start_task
from console.llm.endpoint import Watch
from console.llm.limits import keeper_socket
from console.llm.limits.keeper_socket import LocalKeepers, endpoint_digest, keepers_folder
from console.llm.limits.limiter import Limiter
from console.llm.limits.share import LimitShare


class Engine:
    """A process's limiter of an endpoint, connected."""

    def __init__(self, endpoint: str, ceiling: int | None, rpm: int | None = None) -> None:
        self.keepers = LocalKeepers(start_task)
        self.share = LimitShare(ceiling, rpm, 600.0)
        self.limiter = Limiter("e", ceiling=ceiling, rpm=rpm, share=self.share)
        self.way = self.keepers.connect(endpoint, self.share)

    async def end(self) -> None:
        await self.keepers.aclose()


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for sockets, whose path is short."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture
def endpoint(runtime: Path) -> str:
    return endpoint_digest("http://127.0.0.1:1/v1", "a key")


class Server:
    """Counts who is inside at once."""

    def __init__(self) -> None:
        self.inside = self.most = self.served = 0
        self.order: list[float] = []

    async def serve(self, engine: Engine, seconds: float) -> None:
        slot = await engine.limiter.acquire(Watch(), max_wait_s=60)
        self.order.append(asyncio.get_running_loop().time())
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(seconds)
        self.inside -= 1
        self.served += 1
        engine.limiter.succeeded(slot)
        engine.limiter.release(slot)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  what is awaited has no event
            await asyncio.sleep(0.005)


async def test_three_processes_together_never_have_more_than_the_ceiling(endpoint: str) -> None:
    engines = [Engine(endpoint, 8) for _ in range(3)]
    server = Server()
    await asyncio.gather(*(server.serve(engine, 0.02) for engine in engines for _ in range(60)))
    assert server.most == 8
    for engine in engines:
        await engine.end()


async def test_who_serves_the_others_may_end_and_nothing_exceeds_the_ceiling(endpoint: str) -> None:
    first = Engine(endpoint, 6)
    server = Server()
    await server.serve(first, 0.0)
    others = [Engine(endpoint, 6) for _ in range(2)]
    await asyncio.gather(*(server.serve(engine, 0.0) for engine in others))
    work = [asyncio.create_task(server.serve(engine, 0.05)) for engine in others for _ in range(60)]
    await until(lambda: server.inside >= 4)
    await first.end()
    await asyncio.gather(*work)
    assert server.most <= 6
    for engine in others:
        await engine.end()


async def test_a_pause_reaches_the_others_at_once(endpoint: str) -> None:
    engines = [Engine(endpoint, 8) for _ in range(2)]
    server = Server()
    await asyncio.gather(*(server.serve(engine, 0.0) for engine in engines))
    slots = [await engines[0].limiter.acquire(Watch(), max_wait_s=60) for _ in range(3)]
    for slot in slots:
        engines[0].limiter.throttled(slot, 30.0)
    await until(lambda: engines[1].limiter.pause_s > 0)
    assert engines[1].limiter.pause_s == pytest.approx(30.0, abs=2)
    for engine in engines:
        await engine.end()


async def test_requests_a_minute_are_those_of_all_together(endpoint: str) -> None:
    engines = [Engine(endpoint, None, rpm=1200) for _ in range(3)]
    server = Server()
    await asyncio.gather(*(server.serve(engine, 0.0) for engine in engines for _ in range(10)))
    took = server.order[-1] - server.order[0]
    assert took >= 29 * 0.05 * 0.95
    for engine in engines:
        await engine.end()


async def test_without_a_place_for_sockets_nobody_waits_for_others(endpoint: str, runtime: Path) -> None:
    (runtime / f"eval-console-{os.getuid()}").mkdir(mode=0o755)
    with pytest.raises(PermissionError):
        keepers_folder()
    engine, server = Engine(endpoint, 4), Server()
    await asyncio.gather(*(server.serve(engine, 0.01) for _ in range(12)))
    assert server.most == 4
    await engine.end()


def test_sockets_go_where_paths_are_short_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    assert not keepers_folder().is_relative_to(long)


@pytest.fixture
def other(endpoint: str) -> Iterator[subprocess.Popen[str]]:
    """Another process, which keeps the limits of the endpoint."""
    program = (
        "import asyncio\n"
        "from console.engine.background import start_task\n"
        "from console.llm.limits.keeper_socket import LocalKeepers\n"
        "from console.llm.limits.share import LimitShare\n"
        "async def main():\n"
        "    keepers = LocalKeepers(start_task)\n"
        "    share = LimitShare(4, None, 600.0)\n"
        f"    keepers.connect({endpoint!r}, share)\n"
        "    share.attach(lambda: print('lease', flush=True), lambda *_: None)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "lease\n"
        yield process
    finally:
        process.kill()
        process.communicate()


async def test_a_killed_process_is_followed_by_another(endpoint: str, other: subprocess.Popen[str]) -> None:
    engine, server = Engine(endpoint, 4), Server()
    await server.serve(engine, 0.0)
    other.kill()
    await asyncio.gather(*(server.serve(engine, 0.01) for _ in range(20)))
    assert server.most <= 4
    assert server.served == 21
    await engine.end()


@pytest.mark.parametrize("is_connected", [False, True])
async def test_nobody_waits_for_a_suspended_process(
    endpoint: str, other: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch, *, is_connected: bool
) -> None:
    """As with ctrl+z: a stopped process still listens, and has the lock."""
    monkeypatch.setattr(keeper_socket, "SILENT_S", 0.2)
    server = Server()
    engine = Engine(endpoint, 4, rpm=60_000)
    if is_connected:
        await server.serve(engine, 0.0)
    other.send_signal(signal.SIGSTOP)
    await asyncio.gather(*(server.serve(engine, 0.01) for _ in range(20)))
    assert server.most <= 4
    other.send_signal(signal.SIGCONT)
    third = Engine(endpoint, 4)
    for slot in [await third.limiter.acquire(Watch(), max_wait_s=60) for _ in range(3)]:
        third.limiter.throttled(slot, 30.0)
    await until(lambda: engine.limiter.pause_s > 0)
    for each in (engine, third):
        await each.end()
