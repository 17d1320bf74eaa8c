"""Tasks and threads of suite code that do not end: where they are, so that a message can name them."""

import asyncio
import concurrent.futures.thread
import sys
import threading
import time
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any

IsOfSuite = Callable[[str], bool]
_IDLE = concurrent.futures.thread.__file__
"""A thread whose innermost frame is here waits for work, and ends with its pool when the program ends."""


def place_of_task(task: "asyncio.Task[Any]", is_of_suite: IsOfSuite) -> str:
    """Return where a task is suspended: the innermost frame of the suite's code, or else of any."""
    frames: list[FrameType] = []
    link: Any = task.get_coro()
    while link is not None:
        frame = getattr(link, "cr_frame", None) or getattr(link, "gi_frame", None)
        if frame is not None:
            frames.append(frame)
        link = getattr(link, "cr_await", None) or getattr(link, "gi_yieldfrom", None)
    own = [frame for frame in frames if is_of_suite(frame.f_code.co_filename)]
    return _place(own[-1] if own else frames[-1]) if frames else task.get_name()


def place_of_frame(frame: FrameType | None, is_of_suite: IsOfSuite) -> str:
    """Return where code of the suite, or code it called, runs; empty if it does not run."""
    while frame is not None:
        if is_of_suite(frame.f_code.co_filename):
            return _place(frame)
        frame = frame.f_back
    return ""


def busy_threads(known: Collection[threading.Thread], is_of_suite: IsOfSuite, grace_s: float) -> list[str]:
    """Return the places of threads that keep the interpreter from ending, after some time in which they may end.

    Args:
        known: threads that are not meant.
        is_of_suite: returns whether a file, given its full name, holds code of the suite.
        grace_s: seconds to wait for them in all.
    """
    until = time.monotonic() + grace_s
    while True:
        frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
        places = [
            place_of_frame(frame, is_of_suite) or _place(frame)
            for thread in threading.enumerate()
            if not thread.daemon and thread is not threading.main_thread() and thread not in known
            if (frame := frames.get(thread.ident or 0)) is not None and frame.f_code.co_filename != _IDLE
        ]
        if not places or time.monotonic() >= until:
            return places
        time.sleep(0.01)


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
