"""Access to the search index for verbs, which update it before they search."""

import contextlib
import time
from collections.abc import Generator
from pathlib import Path

from console.cli.output import Output
from console.core.fault import UsageError
from console.exchange.search.hits import NoIndex, Search
from console.exchange.search.indexing import IndexUpdate, Progress
from console.store.lock import RunLocked

_TOLD_AFTER_S = 1.0
_LOOK_EVERY_S = 0.1


def open_search(root: Path, output: Output) -> Search:
    """Update the index, showing progress if that takes long, and open it."""
    began, shown = time.monotonic(), False

    def tell(progress: Progress) -> None:
        nonlocal shown
        if output.rewrites and time.monotonic() - began > _TOLD_AFTER_S:
            output.rewrite(f"indexing the conversations of all runs {progress.share:.0%}")
            shown = True

    while True:
        try:
            IndexUpdate(root, notify=tell).run()
            search = Search(root)
        except (RunLocked, NoIndex):  # another process is updating it
            time.sleep(_LOOK_EVERY_S)
            continue
        if shown:
            output.rewrite("")
        return search


@contextlib.contextmanager
def reporting_damage() -> Generator[None]:
    """Raise a UsageError if the index turns out to be damaged while it is read."""
    try:
        yield
    except NoIndex as error:
        raise UsageError(
            f"the search index could not be read: {error}", hint="Search again: a damaged index is rebuilt."
        ) from None
