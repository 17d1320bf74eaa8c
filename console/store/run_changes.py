"""Detection of runs that were added, changed or removed in a folder, by any process.

A poll takes the times of four files of each run and opens none of them. Changes that touch no file (a lock released by
a dying process, a start that never happens) must be watched by callers that list a run as live, queued or starting.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from console.store.journal_file import ENDING
from console.store.run_marks import MARKS
from console.store.run_scan import run_names
from console.store.runs import JOURNAL, LOCK, MANIFEST, RunFolder

_Mark = tuple[int, ...]
"""Values that change with every change of a run: inode, size and change time of manifest, journal, lock and marks."""


class Changed(NamedTuple):
    """Result of a poll."""

    runs: list[RunFolder]
    """Runs that were added or changed, in no particular order."""
    gone: list[Path]
    """Folders of runs that no longer exist or are no longer runs."""


class RunChanges:
    """Compares the runs of one folder with their state at the last poll."""

    def __init__(self, root: Path) -> None:
        """Record the current state of the runs.

        Raises:
            UsageError: the folder exists and cannot be read.
        """
        self.root = root
        self._marks = dict(self._scan_all())

    def poll(self) -> Changed:
        """Return the changes since the last poll.

        Raises:
            UsageError: the folder exists and cannot be read.
        """
        marks = dict(self._scan_all())
        changed = [RunFolder(self.root / name) for name, mark in marks.items() if self._marks.get(name) != mark]
        gone = [self.root / name for name in self._marks.keys() - marks.keys()]
        self._marks = marks
        return Changed(changed, gone)

    def _scan_all(self) -> Iterator[tuple[str, _Mark]]:
        for name in run_names(self.root):  # strings, as creating a `Path` takes longer than the stat call
            run = f"{self.root}{os.sep}{name}{os.sep}"
            manifest, lock, marks = _mark_of(run + MANIFEST), _mark_of(run + LOCK), _mark_of(run + MARKS)
            journal = _mark_of(run + JOURNAL) or _mark_of(run + JOURNAL + ENDING)
            if manifest:
                yield name, (*manifest, *journal, *lock, *marks)


def _mark_of(path: str) -> _Mark:
    """Return the inode, size and change time of a file; empty if it does not exist.

    The change time also covers copies that preserve modification times.
    """
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:  # an inaccessible folder is listed with the reason
        return (-(error.errno or 1),)
    return status.st_ino, status.st_size, status.st_ctime_ns
