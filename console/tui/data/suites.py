"""`Suites`: the suites with their categories, read in a thread.

A suite that cannot be read never raises; its line has the reason.
"""

from typing import TYPE_CHECKING

import msgspec

from console.config.paths import WorkspacePaths, find_data_roots, state_dir
from console.core.fault import UsageError

if TYPE_CHECKING:
    from console.suites.benchmark import OfficialData
    from console.suites.catalog import Catalog
    from console.suites.category_index import CategoryIndex
    from console.suites.suite import Category, DemoRun, SuiteEntry


class SuiteLine(msgspec.Struct, frozen=True):
    """One suite in a list, or why it cannot be opened. Names and titles are untrusted text."""

    entry: "SuiteEntry"
    categories: tuple["Category", ...] = ()
    mistake: str = ""
    may_run: bool = True
    """False if its folder contains code whose current version the user has not allowed to run."""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def cases(self) -> int:
        return sum(category.cases for category in self.categories)

    @property
    def obstacle(self) -> str:
        """Reason why it cannot be selected, in a few words; empty if it can."""
        if not self.mistake:
            return ""
        return "not usable" if self.may_run else "not allowed"


class Suites(msgspec.Struct):
    """All suites, with warnings about those skipped."""

    lines: list[SuiteLine] = msgspec.field(default_factory=list[SuiteLine])
    warnings: list[str] = msgspec.field(default_factory=list[str])
    catalog: "Catalog | None" = None
    missing: tuple["OfficialData", ...] = ()
    """Official data not installed, but available by `pull`."""

    def find(self, name: str) -> SuiteLine | None:
        return next((line for line in self.lines if line.name == name), None)

    def demo_runs(self) -> "list[tuple[str, DemoRun]]":
        """Return the suite and run of each demo, in order; the first is opened in Live."""
        runs = [(line.name, run) for line in self.lines for run in line.entry.demo if not line.mistake]
        return sorted(runs, key=lambda suite_and_run: suite_and_run[1].order)


def read_suites(paths: WorkspacePaths) -> Suites:
    """Find the suites and count their cases."""
    from console.suites.catalog import Catalog, official_data
    from console.suites.category_index import CategoryIndex

    try:
        catalog = Catalog(find_data_roots(paths.data))
        entries = catalog.entries()
    except UsageError as error:
        return Suites(warnings=[str(error)], missing=tuple(official_data()))
    index = CategoryIndex(state_dir() / "categories.msgpack")
    lines = [_suite_line(catalog, index, entry) for entry in entries]
    index.save()
    names = {entry.name for entry in entries}
    missing = tuple(data for data in official_data() if data.name not in names)
    return Suites(lines, catalog=catalog, missing=missing)


def with_warnings(suites: Suites) -> Suites:
    """Add warnings about skipped suites; slow, because it queries every installed package for formats."""
    return suites if suites.catalog is None else msgspec.structs.replace(suites, warnings=suites.catalog.warnings)


def _suite_line(catalog: "Catalog", index: "CategoryIndex", entry: "SuiteEntry") -> SuiteLine:
    from console.suites.catalog import has_code

    try:
        if has_code(entry):
            return _line_of_code(catalog, index, entry)
        return SuiteLine(entry, index.categories(catalog, entry))
    except UsageError as error:
        return SuiteLine(entry, mistake=str(error))
    except ImportError as error:
        return SuiteLine(entry, mistake=f"its format {entry.format!r} cannot be loaded: {error}")


def _line_of_code(catalog: "Catalog", index: "CategoryIndex", entry: "SuiteEntry") -> SuiteLine:
    """Return the line of a suite with code of its own, which may be disallowed, or hang while counting cases."""
    from console.suites.allowed import NotAllowed
    from console.suites.loading import LoadError, run_limited

    try:
        return SuiteLine(entry, run_limited(lambda: index.categories(catalog, entry)))
    except NotAllowed as error:
        return SuiteLine(entry, mistake=str(error), may_run=False)
    except LoadError as error:
        return SuiteLine(entry, mistake=f"its cases cannot be counted: {error.message}")
    except UsageError as error:
        return SuiteLine(entry, mistake=str(error))
