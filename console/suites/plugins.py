"""Benchmarks of other packages, which may fail in any way: each costs itself, never the program.

A package offers one by an entry point of the group `eval_console.benchmarks` that is a `Benchmark`. The entry points of
two older groups are benchmarks with one part: `eval_console.suites` names a suite, `eval_console.views` a view. A
package whose import hangs is taken for broken as long as the program runs.
"""

from collections.abc import Callable
from typing import Any

from console.core.fault import UsageError
from console.suites.benchmark import BUILT_IN, Benchmark
from console.suites.loading import LoadError, lacking_parts, run_limited
from console.suites.suite import Suite, SuiteEntry

GROUP = "eval_console.benchmarks"
"""Entry point group of benchmarks from other packages."""
ONE_PART = {"eval_console.suites": "suite", "eval_console.views": "view"}
"""Older groups, by the one part of a benchmark that their entry points are."""
_HINT = "Repair or remove the package that offers it."

_hung: dict[str, LoadError] = {}


def installed_names() -> list[str]:
    """Return the names of the benchmarks that other packages offer, without loading any."""
    return [name for group in (GROUP, *ONE_PART) for name, _ in _points(group)]


def installed() -> list[Benchmark]:
    """Return the benchmarks of other packages that can be loaded."""
    found: list[Benchmark] = []
    for group in (GROUP, *ONE_PART):
        for name, place in _points(group):
            try:
                found.append(_read(group, name, place))
            except UsageError:
                continue  # said by `broken_benchmarks`
    return found


def find_installed(name: str, part: str) -> Benchmark | None:
    """Return the benchmark of another package that has this name and a part.

    Raises:
        UsageError: it cannot be loaded, or two packages offer the part.
    """
    found = {_read(group, *point) for group in (GROUP, *ONE_PART) for point in _points(group) if point[0] == name}
    offered = {getattr(benchmark, part): benchmark for benchmark in found if getattr(benchmark, part)}
    if len(offered) > 1:
        raise UsageError(
            f"two packages offer the {_PARTS.get(part, part)} {name!r}: {' and '.join(sorted(offered))}",
            hint="Remove one of them.",
        )
    return next(iter(offered.values()), None)


_PARTS = {"suite": "format"}


def broken_benchmarks() -> list[str]:
    """Return one warning for each benchmark of another package that cannot be loaded, or whose suite cannot."""
    out: list[str] = []
    for group in (GROUP, *ONE_PART):
        for name, place in _points(group):
            try:
                benchmark = _read(group, name, place)
                if benchmark.suite:
                    benchmark.load("suite")
            except UsageError as error:
                out.append(error.message)
    return out


def open_plugin(benchmark: Benchmark, entry: SuiteEntry) -> Suite:
    """Open a suite whose format another package offers.

    Raises:
        UsageError: its code cannot be loaded, fails, or makes something that is no suite; names format and package.
    """
    factory: Callable[[SuiteEntry], Suite] = benchmark.load("suite")
    try:
        suite = factory(entry)
        lacking = lacking_parts(suite)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        problem = f"cannot open {entry.name}: {type(error).__name__}: {error}"
        raise _refusal(benchmark.name, benchmark.suite, problem) from error
    if lacking:
        problem = f"is made for another version of this program: its suites lack {', '.join(lacking)}"
        raise _refusal(benchmark.name, benchmark.suite, problem)
    return suite


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
        raise _refusal(name, place, f"cannot be loaded: {_hung[place].message}")
    try:
        return run_limited(EntryPoint(name, place, GROUP).load)
    except LoadError as error:
        if error.hangs:
            _hung[place] = error
        raise _refusal(name, place, f"cannot be loaded: {error.message}") from error


def _points(group: str) -> list[tuple[str, str]]:
    """Return name and place of a group's entry points; the module that knows them is slow to load."""
    from importlib import metadata

    found = metadata.entry_points(group=group)
    return [(point.name, point.value) for point in found if point.name not in BUILT_IN]


def _read(group: str, name: str, place: str) -> Benchmark:
    if group in ONE_PART:
        return Benchmark(name, **{ONE_PART[group]: place})
    benchmark = load_place(name, place)
    if not isinstance(benchmark, Benchmark):
        raise _refusal(name, place, "is no Benchmark")
    if benchmark.name != name:
        raise _refusal(name, place, f"is called {benchmark.name!r}")
    return benchmark


def _refusal(name: str, place: str, problem: str) -> UsageError:
    return UsageError(f"suite format {name!r} ({place}) {problem}", hint=_HINT)
