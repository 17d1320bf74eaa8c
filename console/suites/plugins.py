"""Formats of other packages, which may fail in any way: each costs itself, never the program.

A package offers a format by the entry point group `eval_console.suites`: a callable that takes the `SuiteEntry` and
returns the `Suite`. Its code runs at import, in a thread of its own, because code that hangs there cannot be stopped;
it is left behind after `LOAD_S` seconds and the format is taken for broken as long as the program runs.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from console.core.fault import UsageError
from console.suites.suite import Suite, SuiteEntry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "eval_console.suites"
"""Entry point group of formats from other packages."""
LOAD_S = 10.0
"""Longest time that importing a format may take."""
_HINT = "Repair or remove the package that offers it."
_PARTS = ("entry", "options", "roles", "categories", "cases", "estimate", "play", "score", "compare", "report")
"""What every suite has, see suites/suite.py."""

_hung: set[str] = set()


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
    except UsageError:
        raise
    except Exception as error:
        raise _refusal(point, f"cannot open {entry.name}: {type(error).__name__}: {error}") from error
    lacking = [name for name in _PARTS if not hasattr(suite, name)]
    if lacking:
        raise _refusal(point, f"is made for another version of this program: its suites lack {', '.join(lacking)}")
    return suite


def load_point(point: "EntryPoint") -> Callable[..., Any]:
    """Import the code behind an entry point, for at most `LOAD_S` seconds.

    Raises:
        UsageError: it cannot be loaded, or its import hangs; names format and package.
    """
    if point.value in _hung:
        raise _hangs(point)
    loaded: list[Any] = []
    failed: list[BaseException] = []

    def load() -> None:
        try:
            loaded.append(point.load())
        except BaseException as error:  # an import may even call sys.exit
            failed.append(error)

    thread = threading.Thread(target=load, name=f"format {point.name}", daemon=True)
    thread.start()
    thread.join(LOAD_S)
    if failed:
        raise _refusal(point, f"cannot be loaded: {type(failed[0]).__name__}: {failed[0]}")
    if not loaded:
        _hung.add(point.value)
        raise _hangs(point)
    return loaded[0]


def _hangs(point: "EntryPoint") -> UsageError:
    return _refusal(point, f"cannot be loaded: its import did not end within {LOAD_S:.0f} s")


def _refusal(point: "EntryPoint", problem: str) -> UsageError:
    return UsageError(f"suite format {point.name!r} ({point.value}) {problem}", hint=_HINT)
