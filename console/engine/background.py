"""Background tasks and threads whose unexpected errors are reported when they occur, not when they are awaited.

    with failures_reported(report):      # once per process: the engine, the app
        task = start_task(work(), "journal sync")
        …
        await stop(task)

`report` also gets errors of threads, timers and connections, if the code that failed was started by this program, and
memory errors wherever they occur; other errors of libraries still go to asyncio's log and to stderr.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any

Report = Callable[[str, Exception], None]
"""Called in the event loop with the name of the failed task or thread, and the error."""
_NAME = "background"
"""Key of a failed task's name in the context of the loop's exception handler."""
_PROGRAM = __name__.partition(".")[0]
_STARTERS = ("asyncio", "concurrent", "threading")
"""Packages whose frames come before those of the started code in a traceback."""


def start_task(work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
    """Start a task; an exception that it does not handle is reported at once, under its name."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_report_failure)
    return task


def _report_failure(task: "asyncio.Task[None]") -> None:
    if task.cancelled() or (error := task.exception()) is None:
        return
    name = task.get_name()
    task.get_loop().call_exception_handler({"message": f"{name} failed", "exception": error, _NAME: name})


async def stop(*tasks: "asyncio.Task[None] | None") -> None:
    """Cancel tasks and wait until they have ended; their errors are reported when they occur."""
    present = [task for task in tasks if task is not None]
    for task in present:
        task.cancel()
    if present:
        await asyncio.wait(present)


@contextlib.contextmanager
def failures_reported(report: Report) -> Generator[None]:
    """Pass unexpected errors of background tasks, threads, timers and connections to `report`, in the running loop."""
    loop = asyncio.get_running_loop()
    handler, hook = loop.get_exception_handler(), threading.excepthook

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        is_unretrieved = "future" in context  # found by the garbage collector: nothing awaited its result
        if isinstance(error, Exception) and (_NAME in context or (not is_unretrieved and _is_ours(error))):
            report(str(context.get(_NAME) or "event loop"), error)
        elif handler is not None:
            handler(loop, context)
        else:
            loop.default_exception_handler(context)

    def thread_failed(args: threading.ExceptHookArgs) -> None:
        error, thread = args.exc_value, args.thread
        if isinstance(error, Exception) and _is_ours(error):
            name = f"thread {thread.name}" if thread is not None else "thread"
            with contextlib.suppress(RuntimeError):  # the loop has ended, so the error no longer matters
                loop.call_soon_threadsafe(report, name, error)
        else:
            hook(args)

    loop.set_exception_handler(handle)
    threading.excepthook = thread_failed
    try:
        yield
    finally:
        threading.excepthook = hook
        loop.set_exception_handler(handler)


def _is_ours(error: Exception) -> bool:
    """Return whether the code that was started, and did not handle the error, belongs to this program.

    A memory error concerns the process, not the library in which it occurred.
    """
    if isinstance(error, MemoryError):
        return True
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _STARTERS:
            return package == _PROGRAM
        trace = trace.tb_next
    return False
