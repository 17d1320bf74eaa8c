"""Resumable writing of imported runs, kept apart from the runs until they are complete.

A staged run is a folder below `.imports` of the runs folder: a journal and a progress file. Both survive a killed
process, and the next import of the same source continues from them. Publishing writes the manifest, syncs, and moves
the folder among the runs in one step, so that no list ever shows half a run.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

from console.core.fault import UsageError
from console.core.json_text import decode_as
from console.core.record import AnyRecord
from console.core.run import Manifest
from console.store.atomic import (
    PRIVATE,
    PRIVATE_FOLDER,
    create_private,
    make_private_folder,
    open_private,
    read_regular,
    write_atomically,
    write_private,
)
from console.store.durable import sync_file, sync_folder
from console.store.journal import JournalReader
from console.store.journal_line import as_json, encode_foreign
from console.store.lock import RunLock, RunLocked
from console.store.runs import RunFolder

STAGES = ".imports"
_FLUSHED_BYTES = 4 << 20


class _Progress(msgspec.Struct):
    """progress.json: everything up to `size` bytes is complete, and `state` belongs to the caller."""

    size: int
    state: msgspec.Raw


class StagedRun:
    """A journal that becomes a run when published. Keep it open only briefly, as other importers must wait."""

    def __init__(self, root: Path, name: str) -> None:
        """Start, or continue what was staged under the same name.

        Raises:
            UsageError: the runs folder cannot be written, or another process imports the same source.
        """
        self._root = root
        self._run = RunFolder(root / STAGES / name)
        self._progress_path = self._run.path / "progress.json"
        self._buffer: list[bytes] = []
        self._buffered = 0
        try:
            (root / STAGES).mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                make_private_folder(self._run.path)
            self._lock = RunLock(self._run.lock_path)
            self._progress = self._read_progress()
            self._journal = open_private(self._run.journal_path)
            self._journal.truncate(self._progress.size)
        except RunLocked as error:
            raise UsageError(
                f"another process is importing this: {error}", where=name, hint="Wait for it to finish."
            ) from None
        except OSError as error:
            raise _not_writable(root, error) from None

    def _read_progress(self) -> _Progress:
        nothing = _Progress(0, msgspec.Raw(b"null"))
        try:
            progress = decode_as(read_regular(self._progress_path), _Progress)
            is_whole = self._run.journal_path.stat().st_size >= progress.size
        except (OSError, ValueError):
            return nothing
        return progress if is_whole else nothing

    @property
    def state(self) -> bytes:
        """The caller's state saved with the existing records, as JSON; `null` if there are none."""
        return bytes(self._progress.state)

    def reader(self) -> JournalReader:
        return JournalReader(self._run.journal_path)

    def append(self, records: Iterable[AnyRecord], state: Callable[[], object] = lambda: None) -> None:
        """Append records that belong together; `state` returns what is needed to continue after them.

        Raises:
            UsageError: writing failed.
        """
        lines = [encode_foreign(record) for record in records]
        self._buffer += lines
        self._buffered += sum(map(len, lines))
        if self._buffered >= _FLUSHED_BYTES:
            self.flush(state)

    def flush(self, state: Callable[[], object] = lambda: None) -> None:
        """Write the buffered records and the progress file.

        Raises:
            UsageError: writing failed.
        """
        try:
            self._journal.write(b"".join(self._buffer))
            self._journal.flush()
            size = self._journal.seek(0, os.SEEK_END)
            self._buffer, self._buffered = [], 0
            self._progress = _Progress(size, msgspec.Raw(msgspec.json.encode(state())))
            write_private(self._progress_path, msgspec.json.encode(self._progress))
        except OSError as error:
            raise _not_writable(self._root, error) from None

    def add_file(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        """Add a file to the run's folder; `write` is called with the open, empty file.

        Raises:
            UsageError: writing failed, or what `write` raises.
        """
        try:
            with create_private(self._run.path / name) as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _not_writable(self._root, error) from None

    def publish(self, manifest: Manifest) -> RunFolder:
        """Publish the staged run and return it, with another suffix if the name is taken.

        Raises:
            UsageError: writing failed.
        """
        while os.path.lexists(self._root / manifest.id):  # likely among hundreds of logs imported in a minute
            manifest = msgspec.structs.replace(manifest, id=manifest.id[:-4] + os.urandom(2).hex())
        run = RunFolder(self._root / manifest.id)
        try:
            self.flush()
            sync_file(self._journal.fileno())
            write_atomically(self._run.manifest_path, as_json(manifest) + b"\n", mode=PRIVATE)
            self._progress_path.unlink(missing_ok=True)
            self._close()
            self._run.path.rename(run.path)
            sync_folder(self._root)
            with contextlib.suppress(OSError):
                (self._root / STAGES).rmdir()
        except OSError as error:
            raise _not_writable(self._root, error) from None
        return run

    def close(self) -> None:
        """Close it for a later continuation."""
        self._close()

    def discard(self) -> None:
        self._close()
        shutil.rmtree(self._run.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            (self._root / STAGES).rmdir()

    def _close(self) -> None:
        if not self._journal.closed:
            self._journal.close()
            self._lock.release()


def _not_writable(root: Path, error: OSError) -> UsageError:
    return UsageError(
        f"the runs folder cannot be written: {error.strerror or error}",
        where=str(root),
        hint="Make it writable, free some disk space, or choose another with --runs PATH.",
    )
