"""A proxy that contains faults in a suite's own code and names their file and line.

Every suite of the catalog is guarded, including built-in ones. Intended errors (`UsageError`, `Fault`) pass; any other
exception, `sys.exit` and a return value of the wrong type become a `SuiteError`. In `compare` and `report`, any error
becomes the `fault` of an empty result. Printed output is captured.
"""

import os
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, cast

from msgspec.structs import replace

from console.core.captured_output import capture_output
from console.core.case import Case
from console.core.comparison import Comparison
from console.core.fault import Fault, UsageError
from console.core.outcome import Verdict
from console.core.signalled import BySignal
from console.suites.code_place import files_of
from console.suites.returned import WrongType, check_item, checked
from console.suites.suite import Report, Suite

_HINT = "This is a fault in the suite's own code."


class SuiteError(UsageError):
    """A suite's code failed outside a rollout."""


class TookTooLong(Exception):
    """Raised inside a suite's code that blocked the event loop for too long."""

    def __init__(self, message: str, place: str) -> None:
        """Create the error; `place` is file, line and function of the code."""
        super().__init__(message)
        self.place = place


_SAYS_ITS_PLACE = WrongType | TookTooLong


def is_of_code(error: BaseException) -> bool:
    """Return whether an exception counts as a fault of code: any but those of signals, even `KeyboardInterrupt`."""
    return not isinstance(error, BySignal)


def guard(suite: Suite) -> Suite:
    """Return a proxy whose methods raise only expected errors; it is an instance of the suite's class."""
    return cast(Suite, _Guarded(suite))


def describe_error(error: BaseException, suite: Suite) -> str:
    """Describe an exception of a suite's code in one line, with its innermost location in that code."""
    place, raised = place_of(error, suite)
    if isinstance(error, _SAYS_ITS_PLACE):
        return f"{error} ({place})"
    return _words(error) + (f" ({place}{raised})" if place else "")


def _words(error: BaseException) -> str:
    """Return the type and message of an exception, whose own code may fail as well."""
    try:
        text = str(error)
    except BaseException as failure:
        if not is_of_code(failure):
            raise
        text = f"its message cannot be read: {type(failure).__name__}"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place_of(error: BaseException, suite: Suite) -> tuple[str, str]:
    """Return the innermost location of an exception in the suite's code, and where it was raised if elsewhere."""
    if isinstance(error, _SAYS_ITS_PLACE):
        return error.place, ""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "", ""
    files = files_of(suite)
    own = [frame for frame in frames if files(frame.filename)]
    frame = own[-1] if own else frames[-1]
    place = f"{frame.filename}:{frame.lineno} in {frame.name}"
    last = frames[-1]
    return place, f", raised at {Path(last.filename).name}:{last.lineno}" if frame is not last else ""


class _Guarded:
    """Proxy of one suite with the same attributes. Faults in `play` and `play_again` are left to the engine."""

    __slots__ = ("__dict__", "_suite")

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        if hasattr(suite, "__dict__"):
            self.__dict__ = suite.__dict__

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._suite.__class__

    def __repr__(self) -> str:
        return f"<suite {self._suite.entry.name}>"

    def __getattr__(self, name: str) -> Any:
        suite = self._suite
        try:
            value = getattr(suite, name) if hasattr(type(suite), name) else _default(suite, name)
        except (UsageError, Fault, AttributeError):
            raise
        except BaseException as error:
            if not is_of_code(error):
                raise
            raise _error(suite, name, error) from error
        if name.startswith("_") or name in ("play", "play_again") or not callable(value):
            return value
        return partial(_guarded, suite, name, cast("Callable[..., Any]", value))


def _default(suite: Suite, name: str) -> Any:
    """Return an attribute of the suite object, or the default of `Suite` if it does not derive from it."""
    try:
        return getattr(suite, name)
    except AttributeError:
        default = getattr(Suite, name)
        return MethodType(default, suite) if isinstance(default, FunctionType) else default


def _guarded(suite: Suite, name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a method of the suite; its errors are raised as a SuiteError that names file and line."""
    process = os.getpid()
    try:
        with capture_output():
            value = checked(name, method, method(*args, **kwargs))
            if name == "score":
                value = _with_reason(value, *args)
    except BaseException as error:
        if not is_of_code(error):
            raise
        return _in_place_of(suite, name, error)
    finally:
        end_copy_of(process)
    if isinstance(value, Iterator):
        return _guarded_iterator(suite, name, method, cast(Iterator[Any], value))
    return value


def end_copy_of(process: int) -> None:
    """End this process if a suite's code forked it, as it would otherwise continue the work of its parent."""
    if os.getpid() != process:
        os._exit(70)


def _with_reason(verdict: Verdict, case: Case, output: Any, *_: Any) -> Verdict:
    """Name the limit of replies as the reason of a failure if a `Chat` ran into it and the suite named none."""
    stopped = cast("dict[str, Any]", output).get("stopped") if isinstance(output, dict) else None
    if not isinstance(stopped, str):
        return verdict
    from console.suites.chat import STEP_LIMIT, STEPS_SPENT  # here, as listing suites needs neither
    from console.suites.simple import UNNAMED

    if verdict.reason != UNNAMED or not stopped.startswith(STEPS_SPENT):
        return verdict
    return replace(verdict, reason=STEP_LIMIT, messages=(*verdict.messages, stopped))


def _guarded_iterator(suite: Suite, name: str, method: Callable[..., Any], values: Iterator[Any]) -> Iterator[Any]:
    while True:
        try:
            with capture_output():
                value = next(values)
                check_item(name, method, value)
        except StopIteration:
            return
        except (UsageError, Fault):
            raise
        except BaseException as error:
            if not is_of_code(error):
                raise
            raise _error(suite, name, error) from error
        yield value


def _in_place_of(suite: Suite, name: str, error: BaseException) -> Comparison | Report:
    """Return an empty comparison or report with the error; raise it for other methods.

    Raises:
        SuiteError: the error was not intended.
        UsageError: passed on from the suite.
        Fault: passed on from the suite.
    """
    is_meant = isinstance(error, UsageError | Fault)
    if name in ("compare", "report"):
        why = str(error) if is_meant else describe_error(error, suite)
        if name == "compare":
            return Comparison("", fault=f"the suite cannot compare this case: {why}")
        return Report((), fault=f"the suite cannot report on this run: {why}")
    if is_meant:
        raise error
    raise _error(suite, name, error) from error


def _error(suite: Suite, name: str, error: BaseException) -> SuiteError:
    place, raised = place_of(error, suite)
    cause = str(error) if isinstance(error, _SAYS_ITS_PLACE) else _words(error)
    message = f"`{name}` of the suite {suite.entry.name} failed: {cause}{raised}"
    return SuiteError(message, where=place, hint=_HINT)
