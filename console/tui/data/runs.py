"""Run lists: reading runs from disk (`RunLine`) and following live ones (`RunWatch`).

A run that cannot be read never raises; its line has the reason.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from console.core.fault import UsageError, reason_of
from console.core.run import RECORDED, Manifest, Summary, Tally
from console.core.tally import RunFold, without_output
from console.store.notes import Notes
from console.store.run_list import read_newest, read_summaries
from console.store.run_queue import RunQueue
from console.store.run_scan import Dated, ListedFolder, read_listed
from console.store.runs import RunFolder

if TYPE_CHECKING:
    from console.insight.trends import ListedRun

FIRST_RUNS = 40
"""Number of runs shown before all are read, more than fit on a screen."""
FIRST_PAUSE_S = 0.25
"""Seconds of reading before the list is updated for the second time."""
_EXAMPLE = "example-"
"""Prefix of the names of bundled runs."""
_MOST_ASKED = 20
"""Maximum number of runs whose notes are read to find failures that nobody has reviewed."""


class RunLine(msgspec.Struct, frozen=True):
    """One run in a list, or why it cannot be read."""

    folder: RunFolder
    summary: Summary | None = None
    mistake: str = ""
    place: int = 0
    """Position in the run queue, from 1; 0 if not queued."""

    @property
    def name(self) -> str:
        """Folder name, which is the run's id. Untrusted text."""
        return self.folder.name

    @property
    def dated(self) -> Dated:
        return Dated(self.name, self.summary.at if self.summary else 0.0, is_exact=self.summary is not None)

    @property
    def state(self) -> str:
        """State of the run; `damaged` if it cannot be read."""
        return self.summary.state if self.summary else "damaged"

    @property
    def is_live(self) -> bool:
        return self.state == "running"

    @property
    def is_queued(self) -> bool:
        return self.state == "queued"

    @property
    def is_begun_or_waits(self) -> bool:
        """True if it is live, starting, or queued."""
        return self.is_live or self.is_queued or self.state == "starting"

    @property
    def can_resume(self) -> bool:
        """True if it ended early and can be played."""
        return self.summary is not None and self.summary.can_resume

    @property
    def is_decided(self) -> bool:
        """True if an interim look ended it early; the rest can still be played."""
        return self.state == "decided"

    @property
    def is_archived(self) -> bool:
        """True if lists omit it."""
        return self.summary is not None and self.summary.archived

    @property
    def is_recorded(self) -> bool:
        """True if it was imported from the log of another tool, and so cannot be played."""
        return self.summary is not None and self.summary.format == RECORDED

    @property
    def is_branch(self) -> bool:
        """True if it replays cases of another run."""
        return self.summary is not None and bool(self.summary.parent)

    @property
    def tally(self) -> Tally:
        return self.summary.tally if self.summary else Tally()

    @property
    def left(self) -> int:
        """Number of graded rollouts that have neither ended nor been given up."""
        return self.summary.left if self.summary else 0

    @property
    def label(self) -> str:
        """Suite, with its category if there is only one."""
        return self.summary.suite_label if self.summary else ""

    @property
    def score(self) -> float:
        """Pass rate; -1 if nothing is graded."""
        rate = self.tally.rate
        return -1.0 if rate is None else rate.value


class SortedFigure(msgspec.Struct, frozen=True):
    """A number that only a list sorted by it shows."""

    name: str
    write: Callable[[RunLine], str]
    is_text: bool = False


class RunWatch:
    """Follows the journal of one live run incrementally."""

    def __init__(self, folder: RunFolder) -> None:
        from console.store.journal import JournalReader

        self.folder = folder
        self._reader = JournalReader(folder.journal_path)
        self._fold = RunFold()
        self._manifest: Manifest | None = None

    def look(self, now: float) -> RunLine:
        """Read new records and return the run's current state."""
        try:
            self._manifest = self._manifest or self.folder.manifest()
            was_live = self.folder.is_live  # checked before and after: an end in between is seen next time
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
            return RunLine(self.folder, mistake=reason_of(error))
        return RunLine(self.folder, self.folder.marked(summary))


def read_newest_runs(root: Path) -> tuple[list[RunLine], int] | None:
    """Return the newest runs and the total number, or None if that takes reading all runs."""
    newest = read_newest(root, FIRST_RUNS)
    return None if newest is None else ([_run_line(listed) for listed in newest[0]], newest[1])


def read_runs(root: Path, show: Callable[[list[RunLine]], None]) -> list[RunLine]:
    """Read the runs of a folder, newest first.

    Args:
        root: the folder.
        show: called with the runs read so far: with the first `FIRST_RUNS`, then at doubling intervals, because each
            call rebuilds the whole list.
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
    """Read one run's line."""
    return _run_line(read_listed(folder))


def _run_line(listed: ListedFolder) -> RunLine:
    folder, summary = listed.folder, listed.summary
    place = _place_of(folder) if summary is not None and summary.state == "queued" else 0
    return RunLine(folder, summary, listed.mistake, place)


def last_failures(lines: Iterable[RunLine]) -> tuple[RunLine, int] | None:
    """Return the newest run with unreviewed failures and how many of its rollouts are reviewed.

    A bundled run comes after the reader's own; branches and archived runs are never returned. If everything is
    reviewed, return the newest run with failures.

    Args:
        lines: all runs, newest first.
    """
    failed = [
        line
        for line in lines
        if line.tally.unsuccessful and not (line.is_begun_or_waits or line.is_branch or line.is_archived)
    ]
    failed.sort(key=lambda line: line.name.startswith(_EXAMPLE))
    newest: tuple[RunLine, int] | None = None
    for line in failed[:_MOST_ASKED]:
        reviewed = sum(annotation.is_seen for annotation in Notes(line.folder.path).annotations().values())
        if reviewed < line.tally.unsuccessful:
            return line, reviewed
        newest = newest or (line, reviewed)
    return newest


def _place_of(folder: RunFolder) -> int:
    """Return a run's position in the queue, from 1; 0 if it is no longer queued."""
    names = RunQueue(folder.path.parent).names()
    return names.index(folder.name) + 1 if folder.name in names else 0


def listed_runs(lines: Iterable[RunLine]) -> "list[ListedRun]":
    """Return the readable runs with their manifests; reads one file per run."""
    from console.insight.trends import ListedRun

    runs: list[ListedRun] = []
    for line in lines:
        try:
            if line.summary is not None:
                runs.append(ListedRun(line.summary, line.folder.manifest()))
        except UsageError:  # deleted meanwhile
            continue
    return runs


def newest_of_models(runs: Sequence[RunLine], suite: str) -> list[RunFolder]:
    """Return the newest completed run of each model on a suite, excluding branches; `runs` are newest first."""
    newest: dict[str, RunFolder] = {}
    for line in runs:
        summary = line.summary
        if summary is not None and summary.suite == suite and line.state == "completed" and not line.is_branch:
            newest.setdefault(summary.model, line.folder)
    return list(newest.values())
