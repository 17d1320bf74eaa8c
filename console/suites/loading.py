"""Loading of third-party suite code, which may raise, exit, print or hang.

The code runs in its own thread, which is abandoned after `LOAD_S` seconds, as hanging code cannot be stopped.
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
from console.core.signalled import BySignal
from console.suites.suite import Suite, SuiteEntry

LOAD_S = 10.0
"""Time limit for importing third-party code, in seconds."""
_PARTS = ("entry", "options", "roles", "categories", "cases", "estimate", "play", "score", "compare", "report")
"""Attributes of every suite, see suites/suite.py."""
_HINT = "Repair or remove the package that offers it."
ValueT = TypeVar("ValueT")
_hung: "dict[str, LoadError]" = {}
"""Errors by location of imports that hang, which are not tried again in this process."""


class LoadError(Exception):
    """Third-party code failed or hung while loading."""

    def __init__(self, message: str, place: str = "", *, hangs: bool = False) -> None:
        """Create the error; `place` is file and line of the code, if known."""
        super().__init__(message)
        self.message, self.place, self.hangs = message, place, hangs


def run_limited(load: Callable[[], ValueT], belongs: Callable[[str], bool] = lambda name: False) -> ValueT:
    """Run third-party code for at most `LOAD_S` seconds and return its result; printed output is dropped.

    Args:
        load: runs the code; its `UsageError` is passed on.
        belongs: returns whether a file name belongs to the code, to locate errors in it.

    Raises:
        LoadError: the code raised, called `sys.exit` or hangs.
    """
    values: list[ValueT] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with capture_output():
                values.append(load())
        except BaseException as error:  # including sys.exit
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
    """Return the names of the attributes that an object lacks to be a suite."""
    lacking = [name for name in _PARTS if not hasattr(suite, name)]
    return lacking or ([] if isinstance(suite.entry, SuiteEntry) else ["entry"])  # pyright: ignore[reportUnnecessaryIsInstance]


def load_place(name: str, place: str) -> Any:
    """Import an object of another package's benchmark, within the time limit.

    Args:
        name: name of the benchmark.
        place: `module:attribute`.

    Raises:
        UsageError: the object cannot be loaded, or its import hangs; names format and package.
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
    """Open a suite with a format of another package.

    Args:
        name: name of the format.
        place: `module:attribute` of the suite factory.
        entry: catalog entry of the suite.

    Raises:
        UsageError: the factory cannot be loaded, fails, or returns no suite; names format and package.
    """
    factory: Callable[[SuiteEntry], Suite] = load_place(name, place)
    try:
        suite = factory(entry)
        lacking = lacking_parts(suite)
    except UsageError:
        raise
    except BaseException as error:
        if isinstance(error, BySignal):
            raise
        problem = f"cannot open {entry.name}: {type(error).__name__}: {error}"
        raise refusal(name, place, problem) from error
    if lacking:
        problem = f"is made for another version of this program: its suites lack {', '.join(lacking)}"
        raise refusal(name, place, problem)
    return suite


def refusal(name: str, place: str, problem: str) -> UsageError:
    """Return the error for an unusable benchmark of another package."""
    return UsageError(f"suite format {name!r} ({place}) {problem}", hint=_HINT)


def _place_of(error: BaseException, belongs: Callable[[str], bool]) -> str:
    """Return the file and line of an exception: the innermost frame in the code, or the place of its syntax error."""
    if isinstance(error, SyntaxError) and error.filename and belongs(error.filename):
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if belongs(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _place_of_frame(frame: FrameType | None, belongs: Callable[[str], bool]) -> str:
    while frame is not None and not belongs(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
