"""Runs converted from another source while readers use them; the writer holds a lock until the run is complete.

A writer that dies leaves a run that is not marked as complete, and the next writer starts over; reader notes are kept.
"""

import contextlib
import time
from collections.abc import Iterable
from typing import BinaryIO

from console.core.fault import UsageError
from console.core.record import AnyRecord
from console.core.run import Manifest
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, make_private_folder, open_private, write_atomically
from console.store.journal_line import as_json, encode_foreign
from console.store.lock import RunLock, is_held
from console.store.runs import RunFolder

_WHOLE = "whole"
"""Marker file of a complete run."""
_LOCK = "writer.lock"
"""Lock of the writer, separate from that of engines, because no engine plays the run."""
_LOOK_EVERY_S = 0.05


def is_whole(run: RunFolder) -> bool:
    """Return whether the run was written completely."""
    return (run.path / _WHOLE).exists()


def wait_for_writer(run: RunFolder, *, until_whole: bool) -> bool:
    """Wait until a writer has completed the run or made it readable; return whether it has."""
    sign = run.path / _WHOLE if until_whole else run.manifest_path
    while not sign.exists() and is_held(run.path / _LOCK):
        time.sleep(_LOOK_EVERY_S)
    return sign.exists()


class GrowingRun:
    """The only writer of a growing run."""

    def __init__(self, run: RunFolder) -> None:
        """Lock the run and remove the remains of an earlier writer.

        Raises:
            RunLocked: another process writes the run.
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
        """Append records.

        Raises:
            UsageError: writing failed.
        """
        assert self._journal is not None
        try:
            self._journal.write(b"".join(map(encode_foreign, records)))
            self._journal.flush()
        except OSError as error:
            raise self._refused(error) from None

    def show(self, manifest: Manifest) -> None:
        """Write the manifest, after which the run can be opened.

        Raises:
            UsageError: writing failed.
        """
        try:
            write_atomically(self.run.manifest_path, as_json(manifest) + b"\n", mode=PRIVATE, is_derived=True)
        except OSError as error:
            raise self._refused(error) from None

    def finish(self) -> None:
        """Mark the run as complete.

        Raises:
            UsageError: writing failed.
        """
        try:
            write_atomically(self.run.path / _WHOLE, b"", mode=PRIVATE, is_derived=True)
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Close the journal and release the lock."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
            self._lock.release()

    def _refused(self, error: OSError) -> UsageError:
        hint = "Make the folder writable, or free some disk space."
        return UsageError(f"the run cannot be written: {error.strerror or error}", where=str(self.run.path), hint=hint)
