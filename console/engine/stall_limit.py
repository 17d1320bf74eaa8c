"""Limits on code that blocks the event loop: suite code, or a hung program.

Conversations are coroutines of one loop, so code that never awaits blocks all of them, as well as keys and signals. An
OS timer checks from outside whether the loop still turns. After `LIMIT_S` seconds an exception is raised inside the
blocking code of a suite, and ends one conversation like any other suite error. If that code continues anyway, or the
program itself waits without using the processor, the process exits after `STUCK_S` seconds. If not even signal handlers
run, a separate process notices (`watchdog`).
"""

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType

from console.engine.watchdog import Watchdog
from console.suites.code_place import IsOfSuite, place_at_work
from console.suites.guard import TookTooLong

LIMIT_S = 30.0
"""Seconds that a suite may block the loop; ordinary steps take milliseconds."""
STUCK_S = 120.0
"""Seconds after which a stuck event loop, or an interpreter that handles no signals, is abandoned."""
_STUCK_CODE = 70
"""Exit code of a hung process: an internal error."""
_SOON_S = 0.2
"""Seconds between checks when the process is about to exit."""
_IDLE_SHARE = 0.1
"""Share of processor time below which the program's own code counts as waiting."""
_PROGRAM = f"{Path(__file__).resolve().parents[1]}/"


class StallLimit:
    """Counts ticks of the OS timer, not seconds, so that a suspended process does not count as blocked."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        is_of_suite: IsOfSuite,
        notify: Callable[[str], None] = lambda text: None,
        limit_s: float | None = None,
    ) -> None:
        """Watch nothing yet.

        Args:
            loop: the loop.
            is_of_suite: returns whether a file, given its full name, contains code of the suite.
            notify: called with a sentence before the process exits.
            limit_s: replaces `LIMIT_S`.
        """
        self._loop, self._is_of_suite, self._notify = loop, is_of_suite, notify
        self._limit_s = LIMIT_S if limit_s is None else limit_s
        self._every_s = min(self._limit_s / 10, STUCK_S / 10, 1.0)
        self._is_turning = True
        self._standing_s = self._worked_s = 0.0
        self._suite_s = 0.0
        """Seconds since the last turn of the loop during which the suite's code was seen running."""
        self._leave_at, self._leave_code = 0.0, 0
        self._watchdog: Watchdog | None = None

    @contextlib.contextmanager
    def watching(self) -> Generator[None]:
        """Watch the loop while the block runs; only in the main thread, as signals are handled nowhere else.

        An earlier alarm is restored afterwards.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._watchdog = Watchdog(STUCK_S)
        handler = signal.signal(signal.SIGALRM, self._look)
        due_s, _ = signal.setitimer(signal.ITIMER_REAL, self._every_s, self._every_s)
        began = time.monotonic()
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, max(due_s - (time.monotonic() - began), 0.001) if due_s else 0)
            signal.signal(signal.SIGALRM, handler)
            self._watchdog.close()

    def leave_within(self, seconds: float, code: int) -> None:
        """Exit the process with a code unless the watched block ends first; can be called from signal handlers."""
        at = time.monotonic() + seconds
        if not self._leave_at or at < self._leave_at:
            self._leave_at, self._leave_code = at, code
            self._every_s = min(self._every_s, _SOON_S)
            signal.setitimer(signal.ITIMER_REAL, self._every_s, self._every_s)

    def _look(self, number: int, frame: FrameType | None) -> None:
        """Schedule a turn of the loop, and act if it has been stuck for too long."""
        del number
        if self._watchdog is not None:
            self._watchdog.beat()
        if self._leave_at and time.monotonic() >= self._leave_at:
            self._leave("what was in flight did not end in time; `eval-console resume` continues", self._leave_code)
        if self._is_turning:
            self._is_turning, self._standing_s, self._worked_s = False, 0.0, time.process_time()
            self._suite_s = 0.0
            self._loop.call_soon_threadsafe(self._turn)
            return
        self._standing_s += self._every_s
        place = self._place_at_work(frame)
        self._suite_s += self._every_s if place else 0.0
        if self._standing_s >= STUCK_S and (place or self._is_idle):
            self._leave(
                f"the engine has been stuck for {self._standing_s:g} s ({place or 'is there too little memory?'}); "
                "finished cases are kept, and `eval-console resume` continues the run",
                _STUCK_CODE,
            )
        if place and self._suite_s >= self._limit_s:
            raise TookTooLong(
                f"it blocked all conversations for {self._limit_s:g} s without an `await`. "
                "Run slow code through `stage.perform`, with `asyncio.to_thread`",
                place,
            )

    @property
    def _is_idle(self) -> bool:
        """True if the process has used almost no processor time since the loop last turned."""
        return time.process_time() - self._worked_s < _IDLE_SHARE * self._standing_s

    def _leave(self, why: str, code: int) -> None:
        with contextlib.suppress(BaseException):  # such as waiting for memory, or for a stream in the middle of a write
            self._notify(why)
        os._exit(code)

    def _turn(self) -> None:
        self._is_turning = True

    def _place_at_work(self, frame: FrameType | None) -> str:
        """Return the location of running suite code, including its callees; empty inside our own code."""
        if frame is not None and _is_ours(frame) and not self._is_of_suite(frame.f_code.co_filename):
            return ""
        return place_at_work(frame, self._is_of_suite)


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PROGRAM)
