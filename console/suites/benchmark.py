"""The face of a benchmark: everything that the rest of the program asks of one, by name, loaded when it is needed.

The benchmarks of `BUILT_IN` come with the program. Other packages offer theirs by an entry point of the group
`eval_console.benchmarks` that is a `Benchmark` too (see `suites.benchmarks`), so that they can do all that ours can.
"""

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

BUILT_IN = ("bfcl", "aidanbench", "cavebench", "dialogue", "recorded")
"""Benchmarks that come with the program, in the order in which they are listed and asked."""


class OfficialData(NamedTuple):
    """Data of a benchmark that do not come with it."""

    name: str
    """What `pull` and the catalog call them."""
    title: str
    pull: str
    """Place of a function that takes a `suites.pull.Pull` and returns the folder of the data."""


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
    """`OfficialData`."""
    template: str = ""
    """Path of a folder from which `new` makes a suite."""
    from_table: str = ""
    """A callable that takes the data folder, the name of a new suite and a file with a table, writes the suite, and
    returns its files and what it took the columns for."""
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
        return self.load_place(getattr(self, part))

    def load_place(self, place: str) -> Any:
        """Import what one of its parts names in turn, `module:attribute`.

        Raises:
            UsageError: see `load`.
        """
        if not self.is_built_in:
            from console.suites.loading import load_place

            return load_place(self.name, place)
        module, _, attribute = place.partition(":")
        return getattr(import_module(module), attribute)


@cache
def built_in() -> tuple[Benchmark, ...]:
    """Return the benchmarks that come with the program."""
    return tuple(import_module(f"console.benchmarks.{name}.benchmark").BENCHMARK for name in BUILT_IN)
