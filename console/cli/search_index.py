"""Access to the search index for verbs, which update it before they search."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from console.cli.output import Output
from console.core.fault import UsageError
from console.exchange.search.hits import NoIndex, Search
from console.exchange.search.indexing import IndexUpdate, Progress
from console.store.lock import RunLocked
from console.store.search_index import search_path

_TOLD_AFTER_S = 1.0
_LOOK_EVERY_S = 0.1
PATIENCE_S = 2.0
"""Seconds for which an update by another process may write nothing before the index is used as it is."""
ResultT = TypeVar("ResultT")


class IndexHeld(Exception):
    """Another process holds the lock of the index, which is not usable yet."""


def use_search(root: Path, output: Output, use: Callable[[Search], ResultT]) -> ResultT:
    """Update the index, open it and return the result of using it; one that turns out to be damaged is rebuilt.

    Raises:
        UsageError: it can neither be read nor rebuilt.
        IndexHeld: there is no index, and another process that would write it does not.
    """
    reason: NoIndex | None = None
    for _ in range(2):
        try:
            with _opened(root, output) as search:
                return use(search)
        except NoIndex as error:  # it was discarded
            reason = error
    raise UsageError(
        f"the search index could not be read: {reason}", where=str(search_path(root)), hint="Delete the file."
    )


def _opened(root: Path, output: Output) -> Search:
    """Update the index, showing progress if that takes long, and open it."""
    began, shown = time.monotonic(), False

    def tell(progress: Progress) -> None:
        nonlocal shown
        if output.rewrites and time.monotonic() - began > _TOLD_AFTER_S:
            output.rewrite(f"indexing the conversations of all runs {progress.share:.0%}")
            shown = True

    version, changed_at = _version(root), began
    while True:
        try:
            IndexUpdate(root, notify=tell).run()
            search = Search(root)
        except NoIndex:  # another process has just removed it
            time.sleep(_LOOK_EVERY_S)
        except RunLocked as locked:
            if (now := _version(root)) != version:
                version, changed_at = now, time.monotonic()
            if time.monotonic() - changed_at > PATIENCE_S:
                return _opened_as_it_is(root, output, locked)
            time.sleep(_LOOK_EVERY_S)
        else:
            if shown:
                output.rewrite("")
            return search


def _version(root: Path) -> list[tuple[int, int]]:
    """Return sizes and times of the files of the index."""
    files = search_path(root).parent.glob(f"{search_path(root).name}*")
    return [(status.st_size, status.st_mtime_ns) for file in sorted(files) if (status := _status(file)) is not None]


def _status(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except OSError:
        return None


def _opened_as_it_is(root: Path, output: Output, locked: RunLocked) -> Search:
    holder = f"process {locked.holder.pid}" if locked.holder is not None else "another process"
    text = f"{holder} holds the search index and has written nothing for {PATIENCE_S:g} s; it may be stopped"
    try:
        search = Search(root)
    except NoIndex:
        raise IndexHeld(f"{text}. There is no index to search yet: continue or end that process.") from None
    output.warn(f"{text}. The newest conversations may be missing here.")
    return search
