"""Runs as the screens over all runs need them: summaries with their manifests. Reads files, so call it in a thread."""

from collections.abc import Iterable

from console.core.fault import UsageError
from console.insight.trends import ListedRun
from console.tui.data.catalog_items import RunLine


def listed_runs(lines: Iterable[RunLine]) -> list[ListedRun]:
    """Return the runs that can be read."""
    runs: list[ListedRun] = []
    for line in lines:
        try:
            if line.summary is not None:
                runs.append(ListedRun(line.summary, line.folder.manifest()))
        except UsageError:  # a run that was deleted meanwhile
            continue
    return runs
