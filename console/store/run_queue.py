"""The queue of runs waiting to be played, kept on disk next to the runs.

Queued runs are complete run folders without a journal. Their order is one small file that is replaced atomically, so
that neither a kill nor a power cut can lose an entry. The process that plays the queue holds
another lock for as long as it runs (see `console.engine.runner`).
"""

import contextlib
import itertools
import os
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from console.core.fault import UsageError, os_errors_as, reason_of
from console.core.json_text import decode_as
from console.core.ranges import Moment
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, locked, read_regular, write_atomically
from console.store.lock import RunLock, is_held

_FOLDER = ".queue"
"""Folder inside the runs folder; run lists skip names with a leading dot."""
_TRASH = ".trash"
_STARTS_WITHIN_S = 10.0
_LONGEST_NAME = 255
"""Maximum length of a file name, in bytes, on common file systems."""


class Queued(msgspec.Struct, frozen=True, omit_defaults=True):
    """One waiting run and the options of its engine. Never a key."""

    run: Annotated[str, msgspec.Meta(pattern=r"^[^./\x00][^/\x00]*$")]
    """Name of the run folder."""
    at: Moment
    """Time of queuing, in seconds since 1970."""
    models: str = ""
    """Models file given for the run; empty for the default."""
    data: str = ""
    """Data folder given for the run; empty for the defaults."""
    folder: str = ""
    """Working directory of the command, which may hold a `.env`."""
    on: str = ""
    """Cluster to play it on; empty for this machine."""
    workers: int | None = None
    """Number of workers; None for as many as fit."""


class RunQueue:
    """The queue of one runs folder. Creating this object touches no file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = root / _FOLDER
        self._path = self._folder / "queue.json"
        self.log_path = self._folder / "runner.log"

    def entries(self) -> list[Queued]:
        """Return the queue in order; the first entry may already be playing.

        Raises:
            UsageError: the file cannot be read.
        """
        try:
            entries = decode_as(read_regular(self._path), list[Queued])
            if any(len(os.fsencode(entry.run)) > _LONGEST_NAME for entry in entries):
                raise ValueError("no folder has a name as long as one of its runs")
            return entries
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise UsageError(
                f"the queue cannot be read: {reason_of(error)}",
                where=str(self._path),
                hint="Delete the file; its runs stay listed and can be resumed one by one.",
            ) from None

    def names(self) -> list[str]:
        """Return the names of the queued runs in order; empty if the queue cannot be read."""
        try:
            return [entry.run for entry in self.entries()]
        except UsageError:
            return []

    @property
    def is_playing(self) -> bool:
        """True if a runner process is playing the queue."""
        return is_held(self._folder / "runner")

    @property
    def is_starting(self) -> bool:
        """True if a runner was started a moment ago and is not playing yet."""
        try:
            return time.time() - self.log_path.stat().st_mtime < _STARTS_WITHIN_S and not self.is_playing
        except OSError:
            return False

    def acquire(self) -> RunLock:
        """Lock the queue in order to play it.

        Raises:
            RunLocked: another process plays the queue.
        """
        self._folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        return RunLock(self._folder / "runner")

    def next_or_release(self, lock: RunLock) -> Queued | None:
        """Return the first entry, or release the runner's lock atomically if the queue is empty.

        A process that adds an entry while the lock is held can therefore rely on the entry being played.
        """
        with self._locked():
            entries = self.entries()
            if not entries:
                lock.release()
            return entries[0] if entries else None

    def add(self, entries: Sequence[Queued]) -> None:
        """Append runs to the queue.

        Raises:
            UsageError: the queue cannot be read or written.
        """
        with self._locked():
            self._write([*self.entries(), *entries])

    def remove(self, run: str) -> bool:
        """Remove a run; return whether it was queued."""
        with self._locked():
            entries = self.entries()
            kept = [entry for entry in entries if entry.run != run]
            self._write(kept)
            return len(kept) < len(entries)

    def move(self, run: str, step: int) -> bool:
        """Move a run by a number of places (negative for earlier); return whether it moved.

        No run can move ahead of the one that is playing.
        """
        with self._locked():
            entries = self.entries()
            names = [entry.run for entry in entries]
            if run not in names:
                return False
            first = 1 if is_held(self.root / names[0] / "lock") else 0
            position = names.index(run)
            target = max(first, min(position + step, len(entries) - 1))
            if target == position or position < first:
                return False
            entries.insert(target, entries.pop(position))
            self._write(entries)
            return True

    def cancel(self, run: str) -> bool:
        """Remove a run from the queue, and move its folder to `.trash` if nothing of it was played.

        Returns:
            True if it was queued.
        """
        was_there = self.remove(run)
        folder = self.root / run
        if was_there and folder.is_dir() and not (folder / "journal.jsonl").exists():
            self.discard(run)
        return was_there

    def discard(self, run: str) -> None:
        """Move a run folder to `.trash`, from where it can be restored by hand.

        If the name is taken there, a number is appended.

        Raises:
            UsageError: the folder cannot be moved.
        """
        trash = self.root / _TRASH
        with os_errors_as(f"the run cannot be moved to {_TRASH}", where=self.root / run):
            trash.mkdir(PRIVATE_FOLDER, exist_ok=True)
            names = itertools.chain((run,), (f"{run}-{number}" for number in itertools.count(2)))
            os.replace(self.root / run, trash / next(name for name in names if not os.path.lexists(trash / name)))

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the lock for changing the queue, waiting for other writers."""
        hint = "Make the runs folder writable, or choose another with --runs PATH."
        with os_errors_as("the queue cannot be written", where=self._folder, hint=hint):
            self._folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            with locked(self._path):
                yield

    def _write(self, entries: list[Queued]) -> None:
        write_atomically(self._path, msgspec.json.format(msgspec.json.encode(entries), indent=1) + b"\n", mode=PRIVATE)
