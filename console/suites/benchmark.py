"""The face of a benchmark: everything that the rest of the program asks of one, by name, loaded when it is needed.

The benchmarks of `BUILT_IN` come with the program. Other packages offer theirs by an entry point of the group
`eval_console.benchmarks` that is a `Benchmark` too (see `suites.plugins`), so that they can do all that ours can.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

BUILT_IN = ("bfcl", "aidanbench", "cavebench", "dialogue", "recorded")
"""Benchmarks that come with the program, in the order in which they are listed and asked."""


class Benchmark(NamedTuple):
    """One benchmark. Every part is the place of an object, `module:attribute`, or empty if the benchmark has none.

    A named tuple, because the command line loads it before anything else and a dataclass would load five modules more.
    """

    name: str
    """Format of its suites, as `suite.toml` names it; also what `pull` and `new --kind` call it."""
    suite: str = ""
    """A callable that takes a `SuiteEntry` and returns a `Suite`."""
    reasons: str = ""
    """A mapping from reasons of verdicts to words for readers."""
    leaderboard: str = ""
    """`LeaderboardRules` that rank its models."""
    pull: str = ""
    """A `suites.pull.OfficialData`: data that does not come with the benchmark, and how to get it."""
    template: str = ""
    """Path of a folder from which `new` makes a suite."""
    exports: str = ""
    """A sequence of formats that only its runs can be exported in."""
    imports: str = ""
    """A sequence of `ImportFormat`."""
    verbs: str = ""
    """A mapping from names to `cli.parser.Verb`."""
    doctor: str = ""
    """A callable that returns a list of `cli.doctor_checks.Finding`."""
    view: str = ""
    """A callable that returns a `tui.suite_views.suite_view.SuiteView`."""

    @property
    def is_built_in(self) -> bool:
        """Whether it comes with the program."""
        return self.name in BUILT_IN

    def load(self, part: str) -> Any:
        """Import one of its parts.

        Raises:
            UsageError: it is of another package and cannot be imported; names benchmark, place and cause.
        """
        place: str = getattr(self, part)
        if not self.is_built_in:
            from console.suites.plugins import load_place

            return load_place(self.name, place)
        module, _, attribute = place.partition(":")
        return getattr(import_module(module), attribute)


@cache
def built_in() -> tuple[Benchmark, ...]:
    """Return the benchmarks that come with the program."""
    return tuple(import_module(f"console.benchmarks.{name}.benchmark").BENCHMARK for name in BUILT_IN)


def benchmarks_with(part: str) -> Iterator[Benchmark]:
    """Yield the benchmarks that have a part: those of the program, then those of other packages that can be loaded."""
    yield from (benchmark for benchmark in built_in() if getattr(benchmark, part))
    from console.suites.plugins import installed  # only here: looking for other packages is slow

    yield from (benchmark for benchmark in installed() if getattr(benchmark, part))


def find_benchmark(name: str, part: str) -> Benchmark | None:
    """Return the benchmark of this name that has a part.

    Raises:
        UsageError: another package offers it and cannot be loaded, or two packages offer it.
    """
    if name in BUILT_IN:
        return next((benchmark for benchmark in built_in() if benchmark.name == name and getattr(benchmark, part)), None)
    from console.suites.plugins import find_installed  # only here: looking for other packages is slow

    return find_installed(name, part)
