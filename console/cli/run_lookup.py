"""What lists know of all runs, and how many cases each suite has: for verbs that look at every run."""

from collections.abc import Mapping

from console.cli.parser import Arguments
from console.config.paths import find_data_roots, find_runs_root
from console.core.fault import UsageError
from console.insight.trends import KnownRun
from console.store.runs import list_runs
from console.suites.catalog import Catalog


def known_runs(args: Arguments) -> list[KnownRun]:
    """Return all runs that can be read, newest first; the others are named on stderr."""
    runs: list[KnownRun] = []
    for folder in list_runs(find_runs_root(args.runs)):
        try:
            runs.append(KnownRun(folder.summary(), folder.manifest()))
        except UsageError as error:
            args.output.warn(str(error))
    return runs


def entries_of(runs: list[KnownRun], args: Arguments) -> Mapping[str, Mapping[str, int]]:
    """Return the number of cases of each category of the suites that were played and are still there."""
    catalog, entries = Catalog(find_data_roots(args.data)), dict[str, Mapping[str, int]]()
    for name in dict.fromkeys(run.summary.suite for run in runs):
        try:
            entries[name] = {category.name: category.cases for category in catalog.open(name).categories()}
        except UsageError:
            args.output.say(f"{name} is not here any more: what is incomplete cannot be told")
    return entries
