# ruff: noqa: ASYNC240 - tests look at small local files
"""A worker's life: calls, questions, errors, time limits, ends."""

import asyncio
import os
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from console.core.fault import UsageError
from console.sandbox.level import Level, read_level
from console.sandbox.limits import WorkerLimits
from console.sandbox.worker import Worker, WorkerError, WorkerLost

CELL = "console.sandbox.programs.cell"
OBJECTS = "console.sandbox.programs.objects"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement is made of Linux features")


async def run(worker: Worker, code: str, **options: Any) -> dict[str, Any]:
    return await worker.call("run", {"code": code}, **options)


async def started(**options: Any) -> Worker:
    return await Worker.start(CELL, allow_weaker=True, **options)


async def test_state_lasts_and_workers_are_apart() -> None:
    first, second = await asyncio.gather(started(), started())
    await run(first, "x = 1")
    await run(second, "x = 2")
    assert (await run(first, "print(x)"))["output"] == "1\n"
    assert (await run(second, "print(x)"))["output"] == "2\n"
    await asyncio.gather(first.kill(), second.kill())


async def test_questions_and_tellings() -> None:
    worker = await started()
    told: list[tuple[str, Any]] = []

    async def answer(kind: str, data: Any) -> Any:
        return [kind, data, "yes"]

    code = "port.tell('note', {'n': 1})\nprint(port.ask('may I', 7))"
    result = await run(worker, code, on_tell=lambda kind, data: told.append((kind, data)), on_ask=answer)
    assert result["output"] == "['may I', 7, 'yes']\n"
    assert told == [("note", {"n": 1})]
    await worker.kill()


async def test_time_of_the_engine_does_not_count() -> None:
    worker = await started()

    async def slow(kind: str, data: Any) -> Any:
        reached.set()
        await asyncio.wait_for(released.wait(), 5)
        return None

    reached, released = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(run(worker, "port.ask('model', 1)", on_ask=slow, wall_s=0.2))
    await reached.wait()
    asyncio.get_running_loop().call_later(0.4, released.set)
    assert (await task)["error"] == ""
    await worker.kill()


async def nothing(kind: str, data: Any) -> Any:
    return None


async def test_only_the_named_questions_give_new_time_and_room() -> None:
    worker = await started()
    code = "import time\nfor n in range(6):\n  time.sleep(0.4)\n  port.ask('more', 1)\nprint('done')"
    assert (await run(worker, code, on_ask=nothing, new_span=("more",), wall_s=2))["output"] == "done\n"
    with pytest.raises(WorkerLost) as caught:
        await run(worker, code, on_ask=nothing, wall_s=2)
    assert caught.value.cause == "timeout"


@pytest.mark.parametrize("message", ["port.tell('x', 1)", "port.ask('x', 1)"])
async def test_messages_are_counted(message: str) -> None:
    worker = await started(limits=WorkerLimits(call_messages=50))
    with pytest.raises(WorkerLost, match="sent too much") as caught:
        await run(worker, f"while True: {message}", on_ask=nothing)
    assert caught.value.cause == "protocol"


async def test_a_question_nobody_answers() -> None:
    worker = await started()
    assert "is not answered here" in (await run(worker, "port.ask('x', 1)"))["message"]
    await worker.kill()


async def test_what_the_answerer_raises_leaves_the_call() -> None:
    worker = await started()

    async def refuse(kind: str, data: Any) -> Any:
        raise LookupError(kind)

    with pytest.raises(LookupError):
        await run(worker, "port.ask('x', 1)", on_ask=refuse)
    assert worker.is_lost


async def test_unknown_operation_leaves_the_worker_well() -> None:
    worker = await started()
    with pytest.raises(WorkerError) as caught:
        await worker.call("format_disk")
    assert caught.value.type_name == "KeyError"
    assert (await run(worker, "print(1)"))["output"] == "1\n"
    await worker.kill()


async def test_too_slow_is_ended() -> None:
    worker = await started()
    with pytest.raises(WorkerLost) as caught:
        await run(worker, "while True: pass", wall_s=0.3)
    assert caught.value.cause == "timeout"
    with pytest.raises(WorkerLost):
        await run(worker, "1")


async def test_cancelling_a_call_ends_the_worker() -> None:
    worker = await started()
    running = asyncio.Event()
    code = "port.tell('go', 1)\nwhile True: pass"
    task = asyncio.create_task(run(worker, code, on_tell=lambda *_: running.set()))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert worker.is_lost
    assert not Path(f"/proc/{worker.pid}").exists()


async def run_until_lost(worker: Worker) -> None:
    """Run cells; one that was shot may still answer the first."""
    while True:
        await run(worker, "1")


async def test_who_was_shot_is_told_from_who_ended_itself() -> None:
    worker = await started()
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerLost, match="signal 9") as caught:
        await run_until_lost(worker)
    assert (caught.value.cause, caught.value.was_killed) == ("died", True)
    for code, was_killed in (("os.kill(os.getpid(), 9)", True), ("os._exit(9)", False)):
        worker = await started()
        with pytest.raises(WorkerLost) as caught:
            await run(worker, f"import os\n{code}")
        assert (caught.value.cause, caught.value.was_killed) == ("died", was_killed)


async def test_used_up_processor_time_is_named() -> None:
    worker = await started(limits=WorkerLimits(cpu_s=3, call_s=100))
    with pytest.raises(WorkerLost, match="processor time used up") as caught:
        await run(worker, "while True: pass")
    assert not caught.value.was_killed


async def test_a_program_that_does_not_load() -> None:
    with pytest.raises(WorkerLost, match="ModuleNotFoundError"):
        await Worker.start("console.sandbox.programs.absent", allow_weaker=True)


async def test_the_scratch_folder_goes_with_the_worker() -> None:
    worker = await started()
    result = await run(worker, "import os\nprint(os.getcwd())\nopen('made', 'w').write('x')\nprint(os.listdir())")
    folder, listing = result["output"].split()
    assert listing == "['made']"
    await worker.kill()
    assert not Path(folder).exists()


async def test_environment_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key-7")
    worker = await started()
    result = await run(worker, "import os\nprint(dict(os.environ))")
    assert "canary" not in result["output"]
    assert "PYTHONHASHSEED" in result["output"]
    await worker.kill()


async def test_given_paths_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "data.txt").write_text("data")
    (tmp_path / "other.txt").write_text("secret")
    worker = await started(read_only=[tmp_path / "given"])
    assert (await run(worker, f"print(open({str(tmp_path / 'given/data.txt')!r}).read())"))["output"] == "data\n"
    assert (await run(worker, f"open({str(tmp_path / 'other.txt')!r})"))["error"] == "PermissionError"
    await worker.kill()


async def test_objects_program_calls_only_what_is_allowed(tmp_path: Path) -> None:
    source = tmp_path / "thermostat.py"
    source.write_text(
        "class Thermostat:\n"
        "    def __init__(self, degrees): self.degrees = degrees\n"
        "    def warm(self, by): self.degrees += by; return self.degrees\n"
        "    def reset(self): self.degrees = 0\n"
    )
    setup = {"files": {"thermostat": str(source)}, "allowed": {"Thermostat": ["warm"]}}
    worker = await Worker.start(OBJECTS, setup=setup, read_only=[source], allow_weaker=True)
    await worker.call("make", {"name": "hall", "class": "Thermostat", "keywords": {"degrees": 18}})
    assert await worker.call("invoke", {"name": "hall", "method": "warm", "arguments": [2]}) == 20
    for method in ("reset", "__class__", "degrees"):
        with pytest.raises(WorkerError, match="may not be called"):
            await worker.call("invoke", {"name": "hall", "method": method})
    await worker.kill()


def test_a_weak_level_is_refused_and_named() -> None:
    weak = Level(network=True, processes=True)
    with pytest.raises(UsageError, match="files"):
        weak.require_enough()
    assert "files ✘" in weak.text
    assert read_level(weak.as_json()) == weak
    Level(files=True, network=True, processes=True).require_enough()


async def test_start_refuses_a_weak_level() -> None:
    from console.sandbox.worker import Layers

    bare = Layers(namespaces=False, landlock=0, seccomp=False)
    with pytest.raises(UsageError, match="i_trust_this_model"):
        await Worker.start(CELL, layers=bare)


async def test_sixteen_at_once() -> None:
    workers = await asyncio.gather(*(started(limits=WorkerLimits(start_s=60)) for _ in range(16)))
    await asyncio.gather(*(run(worker, f"x = {number}") for number, worker in enumerate(workers)))
    results = await asyncio.gather(*(run(worker, "print(x)") for worker in workers))
    assert [int(result["output"]) for result in results] == list(range(16))
    await asyncio.gather(*(worker.kill() for worker in workers))


async def test_what_a_killed_engine_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from console.sandbox import scratch

    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await ended.wait()
    stale = tmp_path / f"eval-console-{ended.pid}-abc"
    stale.mkdir()
    (stale / "left").write_text("x")
    others = [tmp_path / f"eval-console-{os.getpid()}-abc", tmp_path / "eval-console-notes-1"]
    for folder in others:
        folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scratch._remove_stale.cache_clear()
    worker = await started()
    await worker.kill()
    assert not stale.exists()
    assert all(folder.exists() for folder in others)


async def test_folders_of_sockets_are_swept_only_if_nobody_serves_them(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process id is not enough: containers that share /tmp have others."""
    from console.sandbox import scratch

    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await ended.wait()
    place = Path(tempfile.mkdtemp(prefix="w"))  # paths of sockets are short
    monkeypatch.setattr("tempfile.tempdir", str(place))
    names = {
        f"eval-console-{ended.pid}-dead": False,
        f"eval-console-{ended.pid}-live": True,
        "eval-console-olddead": False,
        "eval-console-oldlive": True,
        "eval-console-oldnew": True,
        "eval-console-0": True,
    }
    servers = [socket.socket(socket.AF_UNIX) for _ in names]
    for name, server in zip(names, servers, strict=True):
        (place / name).mkdir()
        server.bind(str(place / name / ("other.sock" if name.endswith("-0") else "live.sock")))
        if name.endswith("live"):
            server.listen(1)
        else:
            server.close()
        if not name.endswith("new"):
            os.utime(place / name, (1.0, 1.0))
    scratch._remove_stale.cache_clear()
    made = scratch.make_scratch()
    assert {name: (place / name).exists() for name in names} == names
    for server in servers:
        server.close()
    assert Path(made).parent == place
    shutil.rmtree(place)
