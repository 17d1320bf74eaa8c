"""Running somebody's code to open a suite, which may fail in any way: raise, exit, print, hang.

It runs in a thread of its own, because code that hangs cannot be stopped; it is left behind after `LOAD_S` seconds.
"""

import contextvars
import sys
import threading
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from console.core.captured_output import capture_output
from console.core.fault import UsageError
from console.suites.suite import Suite, SuiteEntry

LOAD_S = 10.0
"""Longest time that importing somebody's code may take."""
_PARTS = ("entry", "options", "roles", "categories", "cases", "estimate", "play", "score", "compare", "report")
"""What every suite has, see suites/suite.py."""
_HINT = "Repair or remove the package that offers it."
ValueT = TypeVar("ValueT")
_hung: "dict[str, LoadError]" = {}
"""Places whose import hangs; they are taken for broken as long as the program runs."""


class LoadError(Exception):
    """Somebody's code could not be run to its end."""

    def __init__(self, message: str, place: str = "", *, hangs: bool = False) -> None:
        """Make an error; `place` is file and line of the code, where that is known."""
        super().__init__(message)
        self.message, self.place, self.hangs = message, place, hangs


def run_limited(load: Callable[[], ValueT], belongs: Callable[[str], bool] = lambda name: False) -> ValueT:
    """Run somebody's code for at most `LOAD_S` seconds and return what it returns; what it prints is dropped.

    Args:
        load: runs the code; a `UsageError` of it passes.
        belongs: whether a file, by name, is of that code, so that a fault is named by its line there.

    Raises:
        LoadError: it raised, called `sys.exit` or hangs.
    """
    values: list[ValueT] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with capture_output():
                values.append(load())
        except BaseException as error:  # an import may even call sys.exit
            errors.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="loads a suite", daemon=True)
    thread.start()
    thread.join(LOAD_S)
    if errors and isinstance(errors[0], UsageError):
        raise errors[0]
    if errors:
        raise LoadError(f"{type(errors[0]).__name__}: {errors[0]}", _place_of(errors[0], belongs)) from errors[0]
    if not values:
        frame = sys._current_frames().get(thread.ident or 0)  # pyright: ignore[reportPrivateUsage]
        raise LoadError(f"it did not end within {LOAD_S:g} s", _place_of_frame(frame, belongs), hangs=True)
    return values[0]


def lacking_parts(suite: Suite) -> list[str]:
    """Return what something lacks to be a suite."""
    lacking = [name for name in _PARTS if not hasattr(suite, name)]
    return lacking or ([] if isinstance(suite.entry, SuiteEntry) else ["entry"])  # pyright: ignore[reportUnnecessaryIsInstance]


def load_place(name: str, place: str) -> Any:
    """Import an object of a benchmark of another package, within a time limit.

    Args:
        name: of the benchmark.
        place: `module:attribute`.

    Raises:
        UsageError: it cannot be loaded, or its import hangs; names format and package.
    """
    from importlib.metadata import EntryPoint

    if place in _hung:
        raise refusal(name, place, f"cannot be loaded: {_hung[place].message}")
    try:
        return run_limited(EntryPoint(name, place, "").load)
    except LoadError as error:
        if error.hangs:
            _hung[place] = error
        raise refusal(name, place, f"cannot be loaded: {error.message}") from error


def open_plugin(name: str, place: str, entry: SuiteEntry) -> Suite:
    """Open a suite whose format another package offers.

    Args:
        name: of the format.
        place: of what makes its suites, `module:attribute`.
        entry: of the suite.

    Raises:
        UsageError: its code cannot be loaded, fails, or makes something that is no suite; names format and package.
    """
    factory: Callable[[SuiteEntry], Suite] = load_place(name, place)
    try:
        suite = factory(entry)
        lacking = lacking_parts(suite)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        problem = f"cannot open {entry.name}: {type(error).__name__}: {error}"
        raise refusal(name, place, problem) from error
    if lacking:
        problem = f"is made for another version of this program: its suites lack {', '.join(lacking)}"
        raise refusal(name, place, problem)
    return suite


def refusal(name: str, place: str, problem: str) -> UsageError:
    """Return the error that a benchmark of another package cannot be used."""
    return UsageError(f"suite format {name!r} ({place}) {problem}", hint=_HINT)


def _place_of(error: BaseException, belongs: Callable[[str], bool]) -> str:
    """Return file and line at which an exception arose: the innermost of the code, or where it cannot be parsed."""
    if isinstance(error, SyntaxError) and error.filename and belongs(error.filename):
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if belongs(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _place_of_frame(frame: FrameType | None, belongs: Callable[[str], bool]) -> str:
    while frame is not None and not belongs(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
