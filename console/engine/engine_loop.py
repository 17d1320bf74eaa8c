"""The event loop of an engine or worker, which suite code can neither stop nor end with an exception.

`asyncio.run` ends with the first `KeyboardInterrupt` or `SystemExit` of any task or callback and on any call of
`loop.stop`, and then waits for every task and thread, however long they take. Here such an error belongs to the
conversation in whose context it was raised, and the wait at the end is limited.
"""

import asyncio
import concurrent.futures.thread
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import Any, NoReturn, TypeVar

from console.core.fault import Fault, FaultKind
from console.engine.forced_exit import skip_shutdown
from console.engine.local_conversation import PLAYING
from console.engine.watchdog import WITHOUT_FILES_S
from console.suites.code_place import files_of, place_at_work, place_of_frame, place_of_task
from console.suites.guard import describe_error, is_of_code
from console.suites.suite import Suite

ResultT = TypeVar("ResultT")
GRACE_S = 2.0
"""Seconds for tasks, and then for threads, to end after the run."""
_BROKEN_CODE = 70
"""Exit code of a process whose loop fails: an internal error."""
_IDLE = concurrent.futures.thread.__file__
"""A thread whose innermost frame is here waits for work, and ends with its pool when the program ends."""
_RUN_HANDLE = asyncio.Handle._run.__code__  # pyright: ignore[reportPrivateUsage]
_abandoned: "list[asyncio.Task[Any]]" = []
"""Tasks that did not end, kept so that their destruction is not reported."""


class EngineLoop:
    """An event loop for one run; call `run` once."""

    def __init__(self, suite: Suite, notify: Callable[[str], None]) -> None:
        """Open the loop.

        Args:
            suite: the suite whose code is played.
            notify: called with a sentence about code that fails outside a conversation or does not end.
        """
        self._suite, self._notify = suite, notify
        self._is_of_suite = files_of(suite)
        self._threads = set(threading.enumerate())
        self.loop = asyncio.SelectorEventLoop()  # others, such as uvloop's, cannot be protected
        self._stop = self.loop.stop
        self.loop.stop = _refuse_to_stop
        self._executor = ThreadPoolExecutor(thread_name_prefix="engine")
        self.loop.set_default_executor(self._executor)
        self.loop.set_exception_handler(self._handle)

    def run(self, main: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Run a coroutine to its end and close the loop.

        Raises:
            Fault: the suite's code cancelled it.
        """
        asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(main)
        try:
            self._turn_until(task)
        except BaseException:  # a signal, before the engine handles signals
            task.cancel()
            self._turn_until(task)
            raise
        finally:
            self._close()
        if task.cancelled():
            text = "the suite's code cancelled the engine's own task; `eval-console resume` continues the run"
            raise Fault(FaultKind.SUITE, text)
        return task.result()

    def _turn_until(self, task: "asyncio.Task[Any]") -> None:
        task.add_done_callback(lambda task: self._stop())
        while not task.done():
            try:
                self.loop.run_forever()
            except BaseException as error:
                if not is_of_code(error):
                    raise
                context = _context_of(error)
                if context is None and isinstance(error, OSError | ValueError):
                    self._leave(error)
                self._attribute(error, context)

    def _leave(self, error: Exception) -> NoReturn:
        """Exit the process because the loop itself fails: its own files were closed, and perhaps those of the journal.

        If the terminal was closed as well, only the watchdog can report it, which takes a moment.
        """
        with contextlib.suppress(OSError):
            self._notify(
                f"the suite's code closed files of the engine ({error}); `eval-console resume` continues the run"
            )
        time.sleep(WITHOUT_FILES_S * 2)
        os._exit(_BROKEN_CODE)

    def _handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an exception that nothing else handles, such as one from a callback or a task nobody awaits."""
        error, handle = context.get("exception"), context.get("handle")
        of_context = getattr(handle, "_context", None)
        if not isinstance(error, BaseException) or not self._attribute(error, of_context):
            loop.default_exception_handler(context)

    def _attribute(self, error: BaseException, context: Context | None) -> bool:
        """Attribute an error to its conversation, which breaks, or report it; return False if it is not the suite's."""
        conversation = context.get(PLAYING) if context is not None else None
        if not is_of_code(error) or not (_is_raised_in(error, self._is_of_suite) or not isinstance(error, Exception)):
            return False
        if conversation is None or not conversation.break_off(error):
            self._notify(f"the suite's code failed outside a conversation: {describe_error(error, self._suite)}")
        return True

    def _close(self) -> None:
        try:
            self._end_tasks(asyncio.all_tasks(self.loop))
            self._end_tasks({self.loop.create_task(self.loop.shutdown_asyncgens())})
            self._executor.shutdown(wait=False, cancel_futures=True)
            for place in self._busy_threads():
                self._abandon(f"a thread does not end ({place})")
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    def _end_tasks(self, tasks: "set[asyncio.Task[Any]]") -> None:
        """Cancel tasks and wait a while for them."""
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        self._turn_until(self.loop.create_task(_wait(tasks)))
        for task in tasks:
            if not task.done():
                _abandoned.append(task)
                self._abandon(f"a task continues although it was cancelled ({place_of_task(task, self._is_of_suite)})")
            elif not task.cancelled():
                task.exception()  # errors during cancellation do not matter

    def _busy_threads(self) -> list[str]:
        """Return the locations of new threads that still keep the interpreter alive after a grace period."""
        until = time.monotonic() + GRACE_S
        while True:
            frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
            places = [
                place_at_work(frame, self._is_of_suite) or place_of_frame(frame)
                for thread in threading.enumerate()
                if not thread.daemon and thread is not threading.main_thread() and thread not in self._threads
                if (frame := frames.get(thread.ident or 0)) is not None and frame.f_code.co_filename != _IDLE
            ]
            if not places or time.monotonic() >= until:
                return places
            time.sleep(0.01)

    def _abandon(self, what: str) -> None:
        """Report code that does not end, and leave it running until the process exits."""
        skip_shutdown(what)
        self._notify(f"{what}; it ends with this command")


async def _wait(tasks: "set[asyncio.Task[Any]]") -> None:
    await asyncio.wait(tasks, timeout=GRACE_S)


def _refuse_to_stop() -> NoReturn:
    raise RuntimeError("the event loop is the engine's, and a suite must not stop it")


def _context_of(error: BaseException) -> Context | None:
    """Return the context of the callback or task step that raised an error out of the loop."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is _RUN_HANDLE:
            with contextlib.suppress(KeyError):
                return trace.tb_frame.f_locals["self"]._context
        trace = trace.tb_next
    return None


def _is_raised_in(error: BaseException, belongs: Callable[[str], bool]) -> bool:
    trace = error.__traceback__
    while trace is not None:
        if belongs(trace.tb_frame.f_code.co_filename):
            return True
        trace = trace.tb_next
    return False
