"""`RunLine`: one run as lists show it; how runs are read from disk, and how a live one is followed (`RunWatch`).

A run that cannot be read never raises; its line says why.
"""

import math
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from console.core.fault import UsageError
from console.core.run import Manifest, Summary, Tally
from console.core.tally import RunFold, without_output
from console.store.run_list import read_newest, read_summaries
from console.store.run_queue import RunQueue
from console.store.run_scan import Dated, ListedFolder, read_listed
from console.store.runs import RunFolder
from console.suites.catalog import RECORDED

if TYPE_CHECKING:
    from console.insight.trends import ListedRun

FIRST_RUNS = 40
"""Runs that are shown before all are read: more than a screen has room for."""
FIRST_PAUSE_S = 0.25
"""Seconds of reading until the list is handed on again."""
UNFINISHED = ("interrupted", "stopped", "budget", "halted")
"""States from which a run can be resumed."""


class RunLine(msgspec.Struct, frozen=True):
    """One run as lists show it, or why it cannot be read."""

    folder: RunFolder
    summary: Summary | None = None
    mistake: str = ""
    place: int = 0
    """Its place in the queue of runs, from 1; 0: it does not wait there."""

    @property
    def name(self) -> str:
        """Folder name, which is the run's id. Foreign text: folders can be made by anybody."""
        return self.folder.name

    @property
    def dated(self) -> Dated:
        """By what lists are sorted."""
        return Dated(self.name, self.summary.at if self.summary else 0.0, is_exact=self.summary is not None)

    @property
    def state(self) -> str:
        """State of the run; `damaged` when it cannot be read."""
        return self.summary.state if self.summary else "damaged"

    @property
    def is_live(self) -> bool:
        """Whether an engine plays it."""
        return self.state == "running"

    @property
    def is_queued(self) -> bool:
        """Whether it waits in the queue of runs."""
        return self.state == "queued"

    @property
    def is_begun_or_waits(self) -> bool:
        """Whether it is live, starting, or waits in the queue."""
        return self.is_live or self.is_queued or self.state == "starting"

    @property
    def can_resume(self) -> bool:
        """Whether it ended before everything was played."""
        summary = self.summary
        return summary is not None and self.state in UNFINISHED and summary.format != RECORDED

    @property
    def tally(self) -> Tally:
        return self.summary.tally if self.summary else Tally()

    @property
    def left(self) -> int:
        """Rollouts that are not finished."""
        return max(self.summary.planned - self.tally.finished, 0) if self.summary else 0

    @property
    def label(self) -> str:
        """Suite, with its category when there is only one; a run that goes on may come to others."""
        if self.summary is None:
            return ""
        names = [] if self.is_begun_or_waits else list(self.summary.categories)
        names = [self.summary.category] if self.summary.category else names
        return f"{self.summary.suite}/{names[0]}" if len(names) == 1 and names[0] else self.summary.suite

    @property
    def score(self) -> float:
        """Share that passed; -1 when nothing is graded."""
        rate = self.tally.rate
        return -1.0 if rate is None else rate.value


class RunWatch:
    """Follows the journal of one live run, reading only what is new."""

    def __init__(self, folder: RunFolder) -> None:
        """Read nothing yet."""
        from console.store.journal import JournalReader

        self.folder = folder
        self._reader = JournalReader(folder.journal_path)
        self._fold = RunFold()
        self._manifest: Manifest | None = None

    def look(self, now: float) -> RunLine:
        """Read what is new and return the run as it stands."""
        try:
            self._manifest = self._manifest or self.folder.manifest()
            was_live = self.folder.is_live  # asked before and after: an end in between is read at the next look
            for record in self._reader.iter_all():
                self._fold.apply(without_output(record))
            live = was_live or self.folder.is_live
            if not live and not self._fold.sessions:
                return read_run(self.folder)
            summary = self._fold.summary(
                self._manifest,
                live=live,
                now=now,
                damaged=len(self._reader.damages),
                journal_bytes=self._reader.offset,
            )
        except (UsageError, OSError) as error:
            return RunLine(self.folder, mistake=str(error))
        return RunLine(self.folder, summary)


def read_newest_runs(root: Path) -> tuple[list[RunLine], int] | None:
    """Return the newest runs, and how many there are in all; None: all must be read to know that."""
    newest = read_newest(root, FIRST_RUNS)
    return None if newest is None else ([_run_line(listed) for listed in newest[0]], newest[1])


def read_runs(root: Path, show: Callable[[list[RunLine]], None]) -> list[RunLine]:
    """Read the runs of a folder, newest first.

    Args:
        root: the folder.
        show: called with the runs read so far: once with the first `FIRST_RUNS`, then, where reading takes long, after
            intervals that double, because each call rebuilds the whole list.
    """
    lines: list[RunLine] = []
    pause_s, due = FIRST_PAUSE_S, math.inf
    for listed in read_summaries(root):
        lines.append(_run_line(listed))
        if len(lines) == FIRST_RUNS or time.monotonic() > due:
            show(lines[:])
            due, pause_s = time.monotonic() + pause_s, pause_s * 2
    return lines


def read_run(folder: RunFolder) -> RunLine:
    """Read one run."""
    return _run_line(read_listed(folder))


def _run_line(listed: ListedFolder) -> RunLine:
    folder, summary = listed.folder, listed.summary
    place = _place_of(folder) if summary is not None and summary.state == "queued" else 0
    return RunLine(folder, summary, listed.mistake, place)


def _place_of(folder: RunFolder) -> int:
    """Return the place of a run in the queue, from 1; 0 when it is no longer there."""
    names = RunQueue(folder.path.parent).names()
    return names.index(folder.name) + 1 if folder.name in names else 0


def listed_runs(lines: Iterable[RunLine]) -> "list[ListedRun]":
    """Return the runs that can be read, with their manifests, for the screens over all runs; reads a file for each."""
    from console.insight.trends import ListedRun

    runs: list[ListedRun] = []
    for line in lines:
        try:
            if line.summary is not None:
                runs.append(ListedRun(line.summary, line.folder.manifest()))
        except UsageError:  # a run that was deleted meanwhile
            continue
    return runs
