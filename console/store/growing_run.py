"""Runs that are written from another source while they are read: whoever writes holds a lock until it is whole.

A writer that dies leaves a run that is not marked as whole, and the next one begins it anew; what readers noted of it
is kept.
"""

import contextlib
import time
from collections.abc import Iterable
from typing import BinaryIO

from console.core.fault import UsageError
from console.core.record import AnyRecord
from console.core.run import Manifest
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, make_private_folder, open_private, write_atomically
from console.store.journal_line import as_json, encode
from console.store.lock import RunLock, is_held
from console.store.runs import RunFolder

_WHOLE = "whole"
"""File that says that everything is there."""
_LOCK = "writer.lock"
"""Not the lock of engines: nobody plays the run."""
_LOOK_EVERY_S = 0.05


def is_whole(run: RunFolder) -> bool:
    """Whether everything was written."""
    return (run.path / _WHOLE).exists()


def wait_for_writer(run: RunFolder, *, until_whole: bool) -> bool:
    """Wait while somebody writes a run, until it is whole or at least can be opened; say whether it is."""
    sign = run.path / _WHOLE if until_whole else run.manifest_path
    while not sign.exists() and is_held(run.path / _LOCK):
        time.sleep(_LOOK_EVERY_S)
    return sign.exists()


class GrowingRun:
    """The one writer of such a run."""

    def __init__(self, run: RunFolder) -> None:
        """Take the run, and remove what an earlier writer left of it.

        Raises:
            RunLocked: somebody writes it.
            UsageError: the folder cannot be written.
        """
        self.run = run
        self._journal: BinaryIO | None = None
        try:
            run.path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                make_private_folder(run.path)
            self._lock = RunLock(run.path / _LOCK)
            try:
                for path in (run.path / _WHOLE, run.manifest_path, run.index_path, run.journal_path):
                    path.unlink(missing_ok=True)
                self._journal = open_private(run.journal_path)
            except OSError:
                self._lock.release()
                raise
        except OSError as error:
            raise self._refused(error) from None

    def append(self, records: Iterable[AnyRecord]) -> None:
        """Add records.

        Raises:
            UsageError: the disk refused.
        """
        assert self._journal is not None
        try:
            self._journal.write(b"".join(map(encode, records)))
            self._journal.flush()
        except OSError as error:
            raise self._refused(error) from None

    def show(self, manifest: Manifest) -> None:
        """Make it a run that can be opened.

        Raises:
            UsageError: the disk refused.
        """
        try:
            write_atomically(self.run.manifest_path, as_json(manifest) + b"\n", mode=PRIVATE, is_derived=True)
        except OSError as error:
            raise self._refused(error) from None

    def finish(self) -> None:
        """Mark it as whole.

        Raises:
            UsageError: the disk refused.
        """
        try:
            write_atomically(self.run.path / _WHOLE, b"", mode=PRIVATE, is_derived=True)
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Leave it as it is."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
            self._lock.release()

    def _refused(self, error: OSError) -> UsageError:
        hint = "Make it writable, or free some space."
        return UsageError(f"cannot be written: {error.strerror or error}", where=str(self.run.path), hint=hint)
