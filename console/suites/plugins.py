"""Benchmarks of other packages; a broken one never affects the program.

A package registers a `Benchmark` as an entry point of the group `eval_console.benchmarks`. Two older groups define
benchmarks with one part: `eval_console.suites` a suite, `eval_console.views` a view. A package whose import hangs is
broken for the rest of the process.
"""

from collections.abc import Sequence

from console.core.fault import UsageError
from console.suites.benchmark import BUILT_IN, Benchmark

GROUP = "eval_console.benchmarks"
"""Entry point group of benchmarks from other packages."""
ONE_PART = {"eval_console.suites": "suite", "eval_console.views": "view"}
"""The part of a benchmark that each older group defines."""


def installed_names() -> list[str]:
    """Return the names of the benchmarks of other packages without loading them."""
    return [name for _, name, _ in _points()]


def installed() -> list[Benchmark]:
    """Return the loadable benchmarks of other packages."""
    benchmarks: list[Benchmark] = []
    for point in _points():
        try:
            benchmarks.append(_read(*point))
        except UsageError:
            continue  # reported by `broken_benchmarks`
    return benchmarks


def find_installed(name: str, part: str) -> Benchmark | None:
    """Return the installed benchmark with this name and part, or None.

    Raises:
        UsageError: the benchmark cannot be loaded, or two packages offer the part.
    """
    benchmarks = {_read(*point) for point in _points() if point[1] == name}
    offered = {getattr(benchmark, part): benchmark for benchmark in benchmarks if getattr(benchmark, part)}
    if len(offered) > 1:
        raise UsageError(
            f"two packages offer the {_PARTS.get(part, part)} {name!r}: {' and '.join(sorted(offered))}",
            hint="Remove one of them.",
        )
    return next(iter(offered.values()), None)


_PARTS = {"suite": "format"}


def broken_benchmarks(parts: Sequence[str] = ("suite",)) -> list[str]:
    """Return a warning for each benchmark of another package that fails to load, itself or one of `parts`."""
    out: list[str] = []
    for point in _points():
        try:
            benchmark = _read(*point)
            for part in parts:
                if getattr(benchmark, part):
                    benchmark.load(part)
        except UsageError as error:
            out.append(error.message)
    return out


def _points() -> list[tuple[str, str, str]]:
    """Return the group, name and place of all entry points."""
    from importlib import metadata  # slow to import

    points = metadata.entry_points()  # all at once, as each call reads the metadata of every package
    return [
        (group, point.name, point.value)
        for group in (GROUP, *ONE_PART)
        for point in points.select(group=group)
        if point.name not in BUILT_IN
    ]


def _read(group: str, name: str, place: str) -> Benchmark:
    if group in ONE_PART:
        return Benchmark(name)._replace(**{ONE_PART[group]: place})
    from console.suites.loading import load_place, refusal  # imported late, as it loads the suite protocol

    benchmark = load_place(name, place)
    if not isinstance(benchmark, Benchmark):
        raise refusal(name, place, "is not a Benchmark")
    if benchmark.name != name:
        raise refusal(name, place, f"is named {benchmark.name!r}")
    return benchmark
