"""The queue of runs: which run folders wait to be played, in which order. It lives on disk beside the runs.

Runs in the queue are whole run folders without a journal. The order is one small file that is replaced as a whole, so
that neither a kill nor a power cut can lose an entry; whoever changes it holds a lock for that moment. Who plays the
queue holds another lock for as long as it does (see `console.engine.runner`).
"""

import contextlib
import fcntl
import itertools
import os
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import msgspec

from console.core.fault import UsageError
from console.core.json_text import decode_as
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, write_atomically
from console.store.lock import RunLock, is_held

_FOLDER = ".queue"
"""Inside the runs folder; lists of runs pass over names with a dot."""
_TRASH = ".trash"
_STARTS_WITHIN_S = 10.0


class Queued(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run that waits, and the options of its engine. Never a key."""

    run: str
    """Name of its folder."""
    at: float
    """When it was put into the queue, in seconds since 1970."""
    models: str = ""
    """The models file named for it; empty: the usual one."""
    data: str = ""
    """The data folder named for it; empty: the usual ones."""
    folder: str = ""
    """The folder it was started from, where a `.env` may lie."""
    on: str = ""
    """Where it is played; empty: on this machine."""
    workers: int | None = None
    """How many workers play it there; None: as many as there is room for."""


class RunQueue:
    """The queue of one runs folder. Making this object touches no file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = root / _FOLDER
        self._path = self._folder / "queue.json"
        self.log_path = self._folder / "runner.log"

    def entries(self) -> list[Queued]:
        """Return what is in the queue, first to be played first; the first one may be playing.

        Raises:
            UsageError: the file cannot be read; says which and what to do.
        """
        try:
            return decode_as(self._path.read_bytes(), list[Queued])
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise UsageError(
                f"the queue cannot be read: {error}",
                where=str(self._path),
                hint="Delete the file; its runs stay in the list and can be resumed one by one.",
            ) from None

    def names(self) -> list[str]:
        """Return the runs of the queue in order; of a queue that cannot be read, none."""
        try:
            return [entry.run for entry in self.entries()]
        except UsageError:
            return []

    @property
    def is_playing(self) -> bool:
        """Whether a runner process is playing the queue."""
        return is_held(self._folder / "runner")

    @property
    def is_starting(self) -> bool:
        """Whether a runner was started just now and does not play yet."""
        try:
            return time.time() - self.log_path.stat().st_mtime < _STARTS_WITHIN_S and not self.is_playing
        except OSError:
            return False

    def acquire(self) -> RunLock:
        """Lock the queue, to be the one that plays it.

        Raises:
            RunLocked: another process plays it.
        """
        self._folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        return RunLock(self._folder / "runner")

    def next_or_release(self, lock: RunLock) -> Queued | None:
        """Return the first entry; when there is none, release the runner's lock in the same moment.

        So whoever adds an entry and finds the lock held can rely on it that the entry will be seen.
        """
        with self._locked():
            entries = self.entries()
            if not entries:
                lock.release()
            return entries[0] if entries else None

    def add(self, entries: Sequence[Queued]) -> None:
        """Put runs at the end of the queue.

        Raises:
            UsageError: the queue cannot be read or written.
        """
        with self._locked():
            self._write([*self.entries(), *entries])

    def remove(self, run: str) -> bool:
        """Remove a run; return whether it was in the queue."""
        with self._locked():
            entries = self.entries()
            kept = [entry for entry in entries if entry.run != run]
            self._write(kept)
            return len(kept) < len(entries)

    def move(self, run: str, step: int) -> bool:
        """Move a run by so many places (negative: earlier); say whether it moved.

        Nothing overtakes the run that is being played.
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
        """Take a run out of the queue, and its folder to `.trash` when nothing of it was played.

        Returns:
            Whether it was in the queue.
        """
        was_there = self.remove(run)
        folder = self.root / run
        if was_there and folder.is_dir() and not (folder / "journal.jsonl").exists():
            self.discard(run)
        return was_there

    def discard(self, run: str) -> None:
        """Move a run folder to `.trash`, from where it can be moved back by hand.

        One of the same name that is there already, of a run that was taken back and deleted again, stays beside it.

        Raises:
            UsageError: it cannot be moved.
        """
        trash = self.root / _TRASH
        try:
            trash.mkdir(PRIVATE_FOLDER, exist_ok=True)
            names = itertools.chain((run,), (f"{run}-{number}" for number in itertools.count(2)))
            os.replace(self.root / run, trash / next(name for name in names if not os.path.lexists(trash / name)))
        except OSError as error:
            raise UsageError(f"it cannot be moved to {_TRASH}: {error.strerror}", where=str(self.root / run)) from None

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the lock under which the queue is changed; waits for whoever holds it, which takes a moment."""
        try:
            self._folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            fd = os.open(self._folder / "changing", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        except OSError as error:
            raise self._cannot_write(error) from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def _write(self, entries: list[Queued]) -> None:
        try:
            write_atomically(
                self._path, msgspec.json.format(msgspec.json.encode(entries), indent=1) + b"\n", mode=PRIVATE
            )
        except OSError as error:
            raise self._cannot_write(error) from None

    def _cannot_write(self, error: OSError) -> UsageError:
        return UsageError(
            f"the queue cannot be written: {error.strerror}",
            where=str(self._folder),
            hint="Make the runs folder writable, or choose another with --runs PATH.",
        )
