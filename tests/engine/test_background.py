"""Errors that nobody awaits are reported when they occur, whoever runs the code that failed."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from console.engine.background import failures_reported, start_task, stop

OURS, OTHERS = "console.somewhere", "library.somewhere"
FAILING = "def fail():\n    raise {error}\nasync def serve(reader, writer):\n    fail()"
Failures = list[tuple[str, str]]


def code_of(module: str, error: str = "ValueError('unexpected')") -> dict[str, Any]:
    """Functions that fail, as if they were defined in a module."""
    names: dict[str, Any] = {"__name__": module}
    exec(FAILING.format(error=error), names)
    return names


class Reports(Failures):
    """What was reported, and when there is something."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = asyncio.Event()

    def __call__(self, name: str, error: Exception) -> None:
        self.append((name, f"{type(error).__name__}: {error}"))
        self.arrived.set()


async def fail_in(what: str, names: dict[str, Any], folder: Any) -> None:
    loop = asyncio.get_running_loop()
    if what == "thread":
        threading.Thread(target=names["fail"], name="reader").start()
    elif what == "timer":
        loop.call_later(0, names["fail"])
    else:
        server = await asyncio.start_unix_server(names["serve"], str(folder / "socket"))
        _, writer = await asyncio.open_unix_connection(str(folder / "socket"))
        writer.close()
        server.close()


async def test_a_task_that_fails_is_reported_by_its_name_although_nobody_awaits_it() -> None:
    async def fail() -> None:
        raise AttributeError("nobody expects this")

    reports = Reports()
    with failures_reported(reports):
        task = start_task(fail(), "journal sync")
        async with asyncio.timeout(60):
            await reports.arrived.wait()
            await stop(task, None)
    assert reports == [("journal sync", "AttributeError: nobody expects this")]


async def test_a_task_that_is_stopped_or_ends_is_no_failure() -> None:
    reports, ended = Reports(), list[str]()

    async def work(seconds: float) -> None:
        try:
            await asyncio.sleep(seconds)
        finally:
            ended.append("x")

    with failures_reported(reports):
        tasks = [start_task(work(seconds), "work") for seconds in (0, 3600)]
        await tasks[0]
        await stop(*tasks)
    assert (reports, ended) == ([], ["x", "x"])


@pytest.mark.parametrize(("what", "name"), [("thread", "thread reader"), ("timer", "event loop")])
async def test_code_of_this_program_is_reported_wherever_it_fails(what: str, name: str, tmp_path: Any) -> None:
    reports = Reports()
    with failures_reported(reports):
        await fail_in(what, code_of(OURS), tmp_path)
        async with asyncio.timeout(60):
            await reports.arrived.wait()
    assert reports == [(name, "ValueError: unexpected")]


async def test_a_lack_of_memory_is_reported_wherever_it_shows(tmp_path: Any) -> None:
    reports = Reports()
    with failures_reported(reports):
        await fail_in("timer", code_of(OTHERS, "MemoryError"), tmp_path)
        async with asyncio.timeout(10):
            await reports.arrived.wait()
    assert reports == [("event loop", "MemoryError: ")]


@pytest.mark.parametrize("what", ["thread", "timer"])
async def test_code_of_a_library_goes_where_it_went_before(
    what: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports, others, arrived = Reports(), list[str](), asyncio.Event()
    loop = asyncio.get_running_loop()

    def note(error: object) -> None:
        others.append(str(error))
        arrived.set()

    hook: Callable[[Any], None] = lambda args: loop.call_soon_threadsafe(note, args.exc_value)  # noqa: E731
    monkeypatch.setattr(threading, "excepthook", hook)
    loop.set_exception_handler(lambda _, context: note(context["exception"]))
    with failures_reported(reports):
        await fail_in(what, code_of(OTHERS), tmp_path)
        async with asyncio.timeout(60):
            await arrived.wait()
    assert (reports, others) == ([], ["unexpected"])
    assert threading.excepthook is hook


async def test_nothing_is_left_behind() -> None:
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler(), threading.excepthook
    with failures_reported(Reports()):
        assert (loop.get_exception_handler(), threading.excepthook) != before
    assert (loop.get_exception_handler(), threading.excepthook) == before
