# ruff: noqa: ASYNC110, ASYNC240 - tests look at small local files and poll the kernel
"""Hostile cells: the attacks of `doctor`, and further ones that look from outside whether they reached something."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from console.sandbox.attack_scene import play_attacks
from console.sandbox.attacks import ATTACKS
from console.sandbox.limits import WorkerLimits
from console.sandbox.worker import Layers, Worker, WorkerLost

CELL = "console.sandbox.programs.cell"
SMALL = WorkerLimits(call_s=20, memory_bytes=1 << 30, file_bytes=8 << 20)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement is made of Linux features")


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    made = await Worker.start(CELL, limits=SMALL, allow_weaker=True)
    if not made.level.is_enough:
        await made.kill()
        pytest.skip(f"this kernel reaches only {made.level.text}")
    yield made
    await made.kill()


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user's that holds a key, as the console does."""
    environment = os.environ | {"OPENAI_API_KEY": "canary-key-9"}
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment)
    yield process
    assert process.poll() is None, "the victim was ended"
    state = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    process.kill()
    process.wait()
    process.stdin.close()  # type: ignore[union-attr]
    assert state in "SR", "the victim was stopped"


async def run(worker: Worker, code: str, **options: Any) -> dict[str, Any]:
    return await worker.call("run", {"code": code}, **options)


async def assert_fails(worker: Worker, code: str) -> dict[str, Any]:
    result = await run(worker, code)
    assert result["error"], f"it worked: {result['output']}"
    assert "canary" not in result["output"]
    return result


REASONS = {
    "read a file": "PermissionError",
    "4 GiB of memory": "MemoryError",
    "fork": "PermissionError",
    "endless loop": "ran longer than 0.5 s",
    "flood of messages": "sent too much",
    "garbage on the connection": "sent a message",
    "crash": "signal 11",
    "exit": "exited with code 3",
}
"""What stops some of the attacks of `doctor`, so that none is stopped by a mistake in its code."""


async def test_every_attack_of_doctor_is_held(worker: Worker) -> None:
    results = [result async for result in play_attacks()]
    assert {result.attack.name: result.reason for result in results if not result.held} == {}
    assert [result.attack for result in results] == list(ATTACKS)
    reasons = {result.attack.name: result.reason for result in results}
    assert {name: reasons[name] for name, reason in REASONS.items() if reason not in reasons[name]} == {}


async def test_key_from_proc(worker: Worker, victim: subprocess.Popen[bytes]) -> None:
    code = f"""
import os
for pid in [os.getppid(), {os.getpid()}, {victim.pid}, *range(1, 400)]:
    for name in ("environ", "cmdline", "mem", "maps", "root/etc/passwd"):
        try:
            print(open(f"/proc/{{pid}}/{{name}}", "rb").read(2000))
        except OSError:
            pass
"""
    output = (await run(worker, code))["output"]
    assert "canary" not in output
    assert "root:" not in output


async def test_abstract_unix_socket(worker: Worker) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0eval-console-test-{os.getpid()}")
        server.listen()
        code = f"import socket\nsocket.socket(1).connect('\\0eval-console-test-{os.getpid()}')"
        await assert_fails(worker, code)


async def test_signal_the_console(worker: Worker, victim: subprocess.Popen[bytes]) -> None:
    code = f"import os\nfor pid in ({victim.pid}, {os.getpid()}, os.getppid(), -1, 0):\n  "
    await run(worker, code + "\n  try: os.kill(pid, 9)\n  except OSError: pass")
    assert (await run(worker, "print('well')"))["output"] == "well\n"
    assert victim.poll() is None


async def test_new_user_namespace(worker: Worker) -> None:
    assert (await run(worker, "import ctypes\nprint(ctypes.CDLL(None).unshare(0x10000000))"))["output"] == "-1\n"


async def test_mount(worker: Worker) -> None:
    code = "import ctypes\nprint(ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None))"
    assert (await run(worker, code))["output"] == "-1\n"


async def test_thread_bomb(worker: Worker) -> None:
    code = """
import threading
done = threading.Event()
count = 0
try:
    while count < 5000:
        threading.Thread(target=done.wait, daemon=True).start()
        count += 1
finally:
    done.set()
    print(count)
"""
    assert int((await assert_fails(worker, code))["output"]) < 200


async def test_processor_time() -> None:
    worker = await Worker.start(CELL, limits=WorkerLimits(cpu_s=1, call_s=30), allow_weaker=True)
    with pytest.raises(WorkerLost) as caught:
        await run(worker, "while True: pass")
    assert caught.value.cause == "died"


@pytest.mark.parametrize("data", ["b'\\xff' * 4096", "b'\\x00\\x00\\x00\\x03[1]'", "b'\\x00\\x00\\x00\\x02{]'"])
async def test_garbage_on_the_socket(worker: Worker, data: str) -> None:
    code = f"import os\nfor n in range(3, 20):\n  try: os.write(n, {data})\n  except OSError: pass\nwhile True: pass"
    with pytest.raises(WorkerLost) as caught:
        await run(worker, code)
    assert caught.value.cause == "protocol"


async def test_polite_exits_stay_inside(worker: Worker) -> None:
    assert (await run(worker, "raise SystemExit(3)"))["error"] == "SystemExit"
    assert (await run(worker, "raise KeyboardInterrupt"))["error"] == "KeyboardInterrupt"
    assert (await run(worker, "print(1)"))["output"] == "1\n"


async def test_pickle_that_runs_code_when_loaded(worker: Worker, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = f"""
class Bomb:
    def __reduce__(self):
        import os
        return os.system, ("touch {mark}",)
import pickle
port.tell("x", Bomb())
port.tell("x", pickle.dumps(Bomb(), 0).decode("latin-1"))
"""
    told: list[Any] = []
    await run(worker, code, on_tell=lambda kind, data: told.append(data))
    assert len(told) == 2
    assert all(isinstance(item, str) for item in told)
    assert not mark.exists()


async def test_daemon_does_not_outlive_the_worker() -> None:
    """Without the filter a process can be started; with the namespace it ends with the worker all the same."""
    worker = await Worker.start(CELL, allow_weaker=True, layers=Layers(seccomp=False))
    code = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    import time
    time.sleep(600)
    os._exit(0)
os.wait()
"""
    assert (await run(worker, code))["error"] == ""
    before = descendants(worker.pid)
    assert len(before) >= 3
    await worker.kill()
    deadline = time.monotonic() + 60
    while any(is_running(pid) for pid in before) and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    assert [pid for pid in before if is_running(pid)] == []


async def test_a_loop_does_not_delay_the_engine(worker: Worker) -> None:
    task = asyncio.create_task(run(worker, "while True: pass"))
    delays = []
    for _ in range(50):
        began = time.perf_counter()
        await asyncio.sleep(0.005)
        delays.append(time.perf_counter() - began - 0.005)
    began = time.perf_counter()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert time.perf_counter() - began < 20
    assert sorted(delays)[25] < 0.1


async def test_deaf_to_signals_and_still_ended(worker: Worker) -> None:
    code = """
import ctypes, signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
ctypes.CDLL(None).prctl(1, 0)
while True: pass
"""
    with pytest.raises(WorkerLost) as caught:
        await run(worker, code, wall_s=0.3)
    assert caught.value.cause == "timeout"
    assert not is_running(worker.pid)


async def test_limits_cannot_be_raised(worker: Worker) -> None:
    code = "import resource as r\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))"
    await assert_fails(worker, code)


async def test_file_descriptors_are_few(worker: Worker) -> None:
    code = """
import os
found = 0
for number in range(3, 128):
    try:
        os.fstat(number)
        found += 1
    except OSError:
        pass
print(found)
"""
    assert int((await run(worker, code))["output"]) <= 2


async def test_the_connection_has_a_low_number_beside_an_engine_with_many_open_files() -> None:
    with contextlib.ExitStack() as opened:
        for _ in range(150):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        worker = await Worker.start(CELL, limits=SMALL, allow_weaker=True)
    with pytest.raises(WorkerLost) as caught:
        await run(
            worker, "import os\nfor n in range(3, 8):\n  try: os.write(n, b'?' * 8)\n  except OSError: pass\nwhile 1: 0"
        )
    assert caught.value.cause == "protocol"


async def test_the_engines_death_ends_the_worker(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text(
        "import asyncio\n"
        "from console.sandbox.worker import Worker\n"
        "async def main():\n"
        f"    worker = await Worker.start({CELL!r}, allow_weaker=True)\n"
        "    print(worker.pid, flush=True)\n"
        "    await worker.call('run', {'code': 'while True: pass'})\n"
        "asyncio.run(main())\n"
    )
    root = Path(__file__).resolve().parents[2]
    engine = await asyncio.create_subprocess_exec(
        sys.executable, str(script), stdout=asyncio.subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(root)}
    )
    assert engine.stdout is not None
    keeper = int(await engine.stdout.readline())
    family = [keeper, *descendants(keeper)]
    engine.kill()
    await engine.wait()
    deadline = time.monotonic() + 60
    while any(is_running(pid) for pid in family) and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    assert [pid for pid in family if is_running(pid)] == []


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listing.read_text().split()):
            found += [child, *descendants(child)]
    return found


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
