"""Lookup of built-in and installed benchmarks."""

from collections.abc import Iterator
from typing import Any

from console.core.fault import UsageError
from console.suites.benchmark import BUILT_IN, Benchmark, built_in
from console.suites.plugins import find_installed, installed


def benchmarks_with(part: str) -> Iterator[Benchmark]:
    """Yield the benchmarks that have a part: built-in ones, then loadable ones of other packages."""
    yield from (benchmark for benchmark in built_in() if getattr(benchmark, part))
    yield from (benchmark for benchmark in installed() if getattr(benchmark, part))


def loaded_parts(part: str) -> Iterator[Any]:
    """Yield this part of every benchmark that has it, skipping those that cannot be loaded."""
    for benchmark in benchmarks_with(part):
        try:
            yield benchmark.load(part)
        except UsageError:
            continue  # reported by `plugins.broken_benchmarks`


def find_benchmark(name: str, part: str) -> Benchmark | None:
    """Return the benchmark with this name and part, or None.

    Raises:
        UsageError: the package that offers it cannot be loaded, or two packages offer it.
    """
    if name in BUILT_IN:
        return next(
            (benchmark for benchmark in built_in() if benchmark.name == name and getattr(benchmark, part)), None
        )
    return find_installed(name, part)
