"""A limit for suite code that blocks the event loop by computing or sleeping indefinitely.

Conversations are coroutines of one loop, so code that never awaits blocks all of them, as well as keys and signals. An
OS timer checks from outside whether the loop still runs. After `LIMIT_S` seconds an exception is raised inside the
blocking code, and ends one conversation like any other suite error.
"""

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType

from console.suites.guard import TookTooLong

LIMIT_S = 30
"""Seconds that a suite may block the loop; ordinary steps take milliseconds."""
_PROGRAM = f"{Path(__file__).resolve().parents[1]}/"


@contextlib.contextmanager
def stall_limit(is_of_suite: Callable[[str], bool], limit_s: float | None = None) -> Generator[None]:
    """Watch the running loop; only in the main thread, as signals are handled nowhere else.

    An earlier alarm is restored afterwards.

    Args:
        is_of_suite: returns whether a file, given its full name, holds code of the suite.
        limit_s: replaces `LIMIT_S`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watch = _Watch(asyncio.get_running_loop(), is_of_suite, LIMIT_S if limit_s is None else limit_s)
    handler = signal.signal(signal.SIGALRM, watch.look)
    due_s, _ = signal.setitimer(signal.ITIMER_REAL, watch.every_s, watch.every_s)
    began = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, max(due_s - (time.monotonic() - began), 0.001) if due_s else 0)
        signal.signal(signal.SIGALRM, handler)


class _Watch:
    """Counts ticks, not seconds, so that a suspended process does not count as blocked."""

    def __init__(self, loop: asyncio.AbstractEventLoop, is_of_suite: Callable[[str], bool], limit_s: float) -> None:
        self._loop, self._is_of_suite, self._limit_s = loop, is_of_suite, limit_s
        self.every_s = min(limit_s / 10, 1.0)
        self._is_turning = True
        self._standing_s = 0.0

    def look(self, number: int, frame: FrameType | None) -> None:
        """Schedule a turn of the loop, and raise if none came for too long while the suite's code runs."""
        del number
        if self._is_turning:
            self._is_turning, self._standing_s = False, 0.0
            self._loop.call_soon_threadsafe(self._turn)
            return
        self._standing_s += self.every_s
        place = self._place_at_work(frame)
        if place and self._standing_s >= self._limit_s:
            raise TookTooLong(
                f"it blocked all conversations for {self._limit_s:g} s without an `await`. "
                "Run slow code through `stage.perform`, with `asyncio.to_thread`",
                place,
            )

    def _turn(self) -> None:
        self._is_turning = True

    def _place_at_work(self, frame: FrameType | None) -> str:
        """Return where code of the suite, or code it called, runs; empty inside the program's own code."""
        if frame is not None and _is_ours(frame) and not self._is_of_suite(frame.f_code.co_filename):
            return ""
        while frame is not None:
            if self._is_of_suite(frame.f_code.co_filename):
                return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
            frame = frame.f_back
        return ""


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PROGRAM)
