"""Location of running suite code: the suite's files, and the line that a task or thread executes."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from console.suites.suite import Suite

if TYPE_CHECKING:  # verbs that only read load this module without a loop
    import asyncio

IsOfSuite = Callable[[str], bool]
"""Returns whether a file, given its full name, contains code of the suite."""


def files_of(suite: Suite) -> IsOfSuite:
    """Return a predicate for full file names that belong to the suite's package or module."""
    module_name = suite.__class__.__module__
    file = getattr(sys.modules.get(module_name), "__file__", None)
    if file is None:
        return lambda name: False
    if "." in module_name:
        folder = f"{Path(file).parent}/"
        return lambda name: name.startswith(folder)
    return lambda name: name == file


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
    return place_of_frame(own[-1] if own else frames[-1]) if frames else task.get_name()


def place_at_work(frame: FrameType | None, is_of_suite: IsOfSuite) -> str:
    """Return the location of running suite code, which may have called other code; empty if none is running."""
    while frame is not None:
        if is_of_suite(frame.f_code.co_filename):
            return place_of_frame(frame)
        frame = frame.f_back
    return ""


def place_of_frame(frame: FrameType) -> str:
    """Return the file, line and function of a frame."""
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
