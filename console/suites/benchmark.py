"""`Benchmark`: the declared parts of a benchmark, each imported when first needed.

Other packages register a `Benchmark` as an entry point of the group `eval_console.benchmarks` (see `suites.plugins`),
with the same capabilities as the built-in ones.
"""

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

_SHARED = {"recorded": ("recorded", "pairwise"), "harness": ("inspect", "verifiers", "program")}
"""Folders whose code implements several formats."""
_SINGLE = ("bfcl", "aidanbench", "cavebench", "tau2", "dialogue")
BUILT_IN = (*_SINGLE, *(name for names in _SHARED.values() for name in names))
"""Built-in benchmarks, in the order of listings and lookups."""


class OfficialData(NamedTuple):
    """Data of a benchmark that must be downloaded."""

    name: str
    """Name for `pull` and in the catalog."""
    title: str
    pull: str
    """`module:attribute` of a function that takes a `suites.pull.Pull` and returns the data folder."""


class Benchmark(NamedTuple):
    """One benchmark. Every part is `module:attribute` of an object, or empty.

    A named tuple, as importing dataclasses would slow down the start of the command line.
    """

    name: str
    """Format name in `suite.toml`, also for `pull` and `new --kind`."""
    suite: str = ""
    """`module:attribute` of a `Suite` factory that takes a `SuiteEntry`."""
    reasons: str = ""
    """A mapping from verdict reasons to display text."""
    leaderboard: str = ""
    """`LeaderboardRules`."""
    pull: str = ""
    """`OfficialData`."""
    template: str = ""
    """Path of the template folder for `new`."""
    from_table: str = ""
    """A callable that writes a suite from a table, given data folder, suite name and table file; returns the files and
    the interpretation of the columns."""
    from_task: str = ""
    """A callable that writes a suite of another program's task, given data folder, suite name, the task's name and the
    Python that has the program; returns the files and notes on them."""
    runs_programs: bool = False
    """True if its suites run programs that their folder names, which must be allowed (see `suites.allowed`)."""
    add_row: str = ""
    """A callable that adds a kept case as a row to one of its suites (`suites.own_row`); given data folder, suite name,
    row and the outcome to keep."""
    exports: str = ""
    """A sequence of export formats specific to its runs."""
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
        return self.name in BUILT_IN

    def load(self, part: str) -> Any:
        """Import a part by field name.

        Raises:
            UsageError: a part of another package cannot be imported; names benchmark, object and cause.
        """
        return self.load_place(getattr(self, part))

    def load_place(self, place: str) -> Any:
        """Import an object by `module:attribute`.

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
    """Return the built-in benchmarks."""
    single = [import_module(f"console.benchmarks.{name}.benchmark").BENCHMARK for name in _SINGLE]
    shared = [import_module(f"console.benchmarks.{folder}.benchmark").BENCHMARKS for folder in _SHARED]
    return (*single, *(benchmark for benchmarks in shared for benchmark in benchmarks))
