"""`RunChanges`: which runs of a folder came, changed or went, whoever made, played, imported or deleted them.

A look asks the system for the times of three files of each run and opens none of them. What changes without any file
being touched (a held lock that its process lost by dying, a start that never came) is for those to watch who list a
run as live, queued or starting.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from console.store.run_scan import run_names
from console.store.runs import JOURNAL, LOCK, MANIFEST, RunFolder

_Mark = tuple[int, ...]
"""What changes whenever a run may: of manifest, journal and lock the file, its size and when it was changed."""


class Changed(NamedTuple):
    """What a look has brought."""

    runs: list[RunFolder]
    """Runs that came or changed, in no order."""
    gone: list[Path]
    """Folders of runs that are no longer there, or no longer runs."""


class RunChanges:
    """Compares the runs of one folder with how they were at the last look."""

    def __init__(self, root: Path) -> None:
        """Look at the runs as they are now.

        Raises:
            UsageError: the folder is there and cannot be read.
        """
        self.root = root
        self._marks = dict(self._scan_all())

    def poll(self) -> Changed:
        """Return what changed since the last look.

        Raises:
            UsageError: the folder is there and cannot be read.
        """
        marks = dict(self._scan_all())
        changed = [RunFolder(self.root / name) for name, mark in marks.items() if self._marks.get(name) != mark]
        gone = [self.root / name for name in self._marks.keys() - marks.keys()]
        self._marks = marks
        return Changed(changed, gone)

    def _scan_all(self) -> Iterator[tuple[str, _Mark]]:
        for name in run_names(self.root):  # texts, as making a `Path` takes longer than asking for the times
            run = f"{self.root}{os.sep}{name}{os.sep}"
            manifest, journal, lock = _mark_of(run + MANIFEST), _mark_of(run + JOURNAL), _mark_of(run + LOCK)
            if manifest:
                yield name, (*manifest, *journal, *lock)


def _mark_of(path: str) -> _Mark:
    """Return what changes whenever a file does; nothing for one that is not there.

    The time is that of its last change of any kind, which copies that keep their times have too.
    """
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:  # a folder that may not be entered is listed with the reason
        return (-(error.errno or 1),)
    return status.st_ino, status.st_size, status.st_ctime_ns
