"""Formats of other packages, which may fail in any way: each costs itself, never the program.

A package offers a format by the entry point group `eval_console.suites`: a callable that takes the `SuiteEntry` and
returns the `Suite`. A format whose import hangs is taken for broken as long as the program runs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from console.core.fault import UsageError
from console.suites.loading import LoadError, lacking_parts, run_limited
from console.suites.suite import Suite, SuiteEntry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "eval_console.suites"
"""Entry point group of formats from other packages."""
_HINT = "Repair or remove the package that offers it."

_hung: dict[str, LoadError] = {}


def points() -> "list[EntryPoint]":
    """Return the formats of installed packages; the module that knows them is slow to load, so only when needed."""
    from importlib import metadata

    return list(metadata.entry_points(group=GROUP))


def broken_formats() -> list[str]:
    """Return one warning for each installed format that cannot be loaded."""
    out: list[str] = []
    for point in points():
        try:
            load_point(point)
        except UsageError as error:
            out.append(error.message)
    return out


def open_plugin(point: "EntryPoint", entry: SuiteEntry) -> Suite:
    """Open a suite whose format another package offers.

    Raises:
        UsageError: its code cannot be loaded, fails, or makes something that is no suite; names format and package.
    """
    factory: Callable[[SuiteEntry], Suite] = load_point(point)
    try:
        suite = factory(entry)
        lacking = lacking_parts(suite)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise _refusal(point, f"cannot open {entry.name}: {type(error).__name__}: {error}") from error
    if lacking:
        raise _refusal(point, f"is made for another version of this program: its suites lack {', '.join(lacking)}")
    return suite


def load_point(point: "EntryPoint") -> Callable[..., Any]:
    """Import the code behind an entry point, within a time limit.

    Raises:
        UsageError: it cannot be loaded, or its import hangs; names format and package.
    """
    if point.value in _hung:
        raise _refusal(point, f"cannot be loaded: {_hung[point.value].message}")
    try:
        return run_limited(point.load)
    except LoadError as error:
        if error.hangs:
            _hung[point.value] = error
        raise _refusal(point, f"cannot be loaded: {error.message}") from error


def _refusal(point: "EntryPoint", problem: str) -> UsageError:
    return UsageError(f"suite format {point.name!r} ({point.value}) {problem}", hint=_HINT)
