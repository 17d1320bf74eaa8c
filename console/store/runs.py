"""Run folders: creating and summarizing them. `run_list` lists and finds them."""

import contextlib
import hashlib
import os
import time
from collections.abc import MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from console.core.case import Slot
from console.core.fault import UsageError, reason_of
from console.core.names import slug
from console.core.run import COUNTING, Manifest, Shard, Summary
from console.core.tally import Counted, RunFold, without_output
from console.store.atomic import (
    PRIVATE,
    PRIVATE_FOLDER,
    make_private_folder,
    open_regular,
    read_regular,
    write_atomically,
)
from console.store.journal import JournalReader, checksum_of, unsynced_path
from console.store.journal_file import is_archived, journal_status
from console.store.journal_line import as_json
from console.store.lock import is_held
from console.store.old_runs import read_manifest, read_summary
from console.store.run_marks import RunMarks, read_marks
from console.store.run_queue import RunQueue

if TYPE_CHECKING:
    from console.core.media import MediaReference

JOURNAL = "journal.jsonl"
MANIFEST = "run.json"
LOCK = "lock"
FILES = "files"
"""Folder with the images, audio and files of messages, each stored once."""
KEPT_LOG = "imported.eval"
CHEAP_BYTES = 1 << 16
"""Journals up to this size are always verified by checksum, as reading them is cheap."""
SHOWN_DAMAGES = 20
"""Maximum number of damaged lines listed in a summary."""
STARTING_S = 20.0
"""Seconds for which a run without records counts as starting; after that, its engine is considered to have failed."""


class RunFolder:
    """One run on disk. Creating this object touches no file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    @property
    def id(self) -> str:
        """The folder name, as valid UTF-8."""
        return os.fsencode(self.name).decode("utf-8", "replace")

    @property
    def journal_path(self) -> Path:
        """The journal, the source of truth about the run."""
        return self.path / JOURNAL

    @property
    def has_journal(self) -> bool:
        """True if there is a journal, archived or not."""
        return self.journal_path.exists() or self.is_archived

    def keep_file(self, reference: str, data: bytes) -> None:
        """Write the bytes of a reference in messages (see `core.media`) durably, unless they exist already.

        Raises:
            OSError: writing failed.
        """
        from console.core.media import read_reference

        parsed = read_reference(reference)
        path = self.path / FILES / (parsed.file_name if parsed is not None else "")
        if parsed is None or path.exists():
            return
        path.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        write_atomically(path, data, mode=PRIVATE)

    def copy_files_of(self, other: "RunFolder") -> None:
        """Copy the images, audio and files in another run's messages.

        Raises:
            OSError: reading or writing failed.
        """
        folder = other.path / FILES
        for source in sorted(folder.iterdir()) if folder.is_dir() else ():
            target = self.path / FILES / source.name
            if not target.exists():
                target.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
                write_atomically(target, read_regular(source), mode=PRIVATE)

    def path_of_file(self, reference: "MediaReference") -> Path:
        """Return the path of the bytes of a reference."""
        return self.path / FILES / reference.file_name

    def read_file(self, reference: "MediaReference") -> bytes | None:
        """Return the bytes of a reference; None if they are gone or changed."""
        try:
            data = read_regular(self.path_of_file(reference))
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == reference.digest else None

    @property
    def is_archived(self) -> bool:
        """True if the journal exists only as a compressed copy; lists then omit the run."""
        return is_archived(self.journal_path)

    @property
    def marks(self) -> RunMarks:
        return read_marks(self.path)

    @property
    def manifest_path(self) -> Path:
        return self.path / MANIFEST

    @property
    def summary_path(self) -> Path:
        """The summary; derived."""
        return self.path / "summary.json"

    @property
    def index_path(self) -> Path:
        """Saved index of a long journal; derived."""
        return self.path / "index.msgpack"

    @property
    def kept_log_path(self) -> Path:
        """The log that the run was imported from, as an `.eval`; only runs imported from Inspect have one."""
        return self.path / KEPT_LOG

    @property
    def lock_path(self) -> Path:
        """Held by the engine that plays the run."""
        return self.path / LOCK

    @property
    def socket_path(self) -> Path:
        """Socket of the engine, for watching and steering."""
        return self.path / "live.sock"

    @property
    def log_path(self) -> Path:
        """Output of the engine outside of the journal."""
        return self.path / "engine.log"

    @property
    def labels_lock_path(self) -> Path:
        """Held while a model labels failures."""
        return self.path / "labels.lock"

    @property
    def labels_log_path(self) -> Path:
        """Output of labeling that was started from the app."""
        return self.path / "labels.log"

    @property
    def decide_log_path(self) -> Path:
        """Output of searches for a deciding step that were started from the app."""
        return self.path / "decide.log"

    @property
    def server_log_path(self) -> Path:
        """Output of a model server started for the run."""
        return self.path / "server.log"

    def manifest(self, *, as_written: bool = False) -> Manifest:
        """Read run.json; unless `as_written`, with the name given later by a reader.

        Raises:
            UsageError: missing or unreadable.
        """
        try:
            manifest = read_manifest(read_regular(self.manifest_path), self.journal_path)
        except FileNotFoundError:
            raise UsageError("this is not a run folder: run.json is missing", where=str(self.path)) from None
        except (OSError, ValueError) as error:
            text = f"the manifest cannot be read: {reason_of(error)}"
            raise UsageError(text, where=str(self.manifest_path)) from None
        # A copied or renamed folder goes by its current name.
        name = "" if as_written else self.marks.name
        if manifest.id == self.id and not name:
            return manifest
        return msgspec.structs.replace(manifest, id=self.id, name=name or manifest.name)

    @property
    def is_live(self) -> bool:
        """True if an engine is playing this run now."""
        return is_held(self.lock_path)

    @property
    def is_closed(self) -> bool:
        """True if the last engine closed the run properly: finished, stopped, at a cap or halted."""
        return self.fold()[0].closed is not None

    @property
    def is_unconfirmed(self) -> bool:
        """True if part of the journal was never confirmed by the disk and has not been rewritten since."""
        return unsynced_path(self.journal_path).exists()

    @property
    def is_queued(self) -> bool:
        """True if the run is in the queue of its runs folder, waiting or playing."""
        return self.name in RunQueue(self.path.parent).names()

    def summary(self) -> Summary:
        """Return the summary, from summary.json if current, else from the journal.

        Raises:
            UsageError: run.json cannot be read.
        """
        live = self.is_live
        saved = self._read_summary()
        if saved is None or not self._is_current(saved, live):
            return self.fold()[1]
        return self._as_saved(saved)

    def _as_saved(self, saved: Summary) -> Summary:
        saved.checksum = saved.counting = 0
        return self.marked(saved)

    def marked(self, summary: Summary) -> Summary:
        """Return a summary with the reader's marks, which summary.json does not have."""
        marks = self.marks
        summary.name = marks.name or summary.name
        summary.note, summary.pinned, summary.archived = marks.note, marks.pinned, self.is_archived
        return summary

    def _read_summary(self) -> Summary | None:
        """Return summary.json, or None if it is missing or corrupt."""
        try:
            summary = read_summary(read_regular(self.summary_path))
        except (OSError, ValueError):
            return None
        if summary.checksum not in (0, crc32(as_json(msgspec.structs.replace(summary, checksum=0)))):
            return None
        summary.id = self.id
        return summary

    def _is_current(self, saved: Summary, live: bool, checksum: int | None = None) -> bool:
        """Return whether a summary matches the journal, rereading journals that are short or were touched."""
        is_signed = saved.checksum and saved.journal_checksum is not None
        if not is_signed or saved.counting != COUNTING or (saved.state == "running") != live:
            return False
        try:
            status = journal_status(self.journal_path)
            if status.size != saved.journal_bytes:
                return False
            if checksum is None:
                if status.size > CHEAP_BYTES and status.modified_ns == saved.journal_ns:
                    return True
                checksum = checksum_of(self.journal_path, status.size)
        except OSError:
            return False
        return checksum == saved.journal_checksum

    def reader(self) -> JournalReader:
        """Return a journal reader that can be compared with the last summary (see `alteration`)."""
        return JournalReader(self.journal_path, self.summarized_bytes)

    @property
    def summarized_bytes(self) -> int:
        """Journal bytes that the last summary covers."""
        saved = self._read_summary()
        return saved.journal_bytes if saved is not None else 0

    def alteration(self, reader: JournalReader) -> str:
        """Describe changes made to the journal by anything but its engine since the last summary; empty if none.

        Args:
            reader: returned by `reader` and read to the end.
        """
        saved = self._read_summary()
        if saved is None or saved.journal_checksum is None:
            return ""
        if reader.offset < saved.journal_bytes:
            return f"the journal was shortened: {saved.journal_bytes - reader.offset} bytes are missing"
        if reader.marked_checksum not in (None, saved.journal_checksum):
            return "the journal was changed in a part that had been summarized"
        return saved.altered

    def fold(self, latest: MutableMapping[Slot, Counted] | None = None) -> tuple[RunFold, Summary]:
        """Derive everything from the journal, and save the summary unless the run is being played.

        Args:
            latest: empty mapping for the ending of each rollout; a dictionary by default.
        """
        live = self.is_live
        reader, fold, modified_ns = self.reader(), RunFold(latest={} if latest is None else latest), self.modified_ns()
        for record in reader.iter_all():
            fold.apply(without_output(record))
        return fold, self.summarize(fold, reader, modified_ns, live=live)

    def summarize(self, fold: RunFold, reader: JournalReader, modified_ns: int, *, live: bool) -> Summary:
        """Return the summary of a journal that has been read, and save a new one unless the run is being played.

        Args:
            fold: all its records.
            reader: has read it to the end.
            modified_ns: modification time before it was read.
            live: True if an engine had the run then.
        """
        manifest = self.manifest(as_written=True)
        live = live or self.is_live  # an engine may have started while the journal was read
        saved = self._read_summary()
        if saved is not None and self._is_current(saved, live, reader.checksum):
            return self._as_saved(saved)
        summary = fold.summary(
            manifest, live=live, now=time.time(), damaged=len(reader.damages), journal_bytes=reader.offset
        )
        summary.damaged_lines = [damage.line for damage in reader.damages[:SHOWN_DAMAGES]]
        summary.journal_checksum, summary.journal_ns = reader.checksum, modified_ns
        summary.altered = "" if live else self.alteration(reader)
        if not live and not fold.sessions:
            self._explain_no_records(summary)
        if not live and summary.state not in ("queued", "starting"):
            self._save_summary(summary)
        return self.marked(summary)

    def modified_ns(self) -> int:
        """Return the journal's modification time; 0 if there is no journal."""
        try:
            return journal_status(self.journal_path).modified_ns
        except OSError:
            return 0

    def damages(self, reader: JournalReader) -> list[str]:
        """Describe the defects of the journal, each with run name and line."""
        altered = self.alteration(reader)
        lines = [f"{self.name}/{self.journal_path.name}:{damage.line}: {damage.why}" for damage in reader.damages]
        return [*([f"{self.name}: {altered}"] if altered else []), *lines]

    def _explain_no_records(self, summary: Summary) -> None:
        """Set the state of a run without records: waiting, starting, or failed to start."""
        words, spawned = self._log()
        if self.is_queued:
            summary.state = "queued"
        elif words:
            summary.message = words
        elif summary.updated - max(summary.at, spawned) < STARTING_S:
            summary.state = "starting"

    def _log(self) -> tuple[str, float]:
        """Return the end of the engine's log, and the time of its last change."""
        try:
            with open_regular(self.log_path) as log:
                status = os.fstat(log.fileno())
                log.seek(max(0, status.st_size - 2_000))
                return log.read().decode("utf-8", "replace").strip(), status.st_mtime
        except OSError:
            return "", 0.0

    def _save_summary(self, summary: Summary) -> None:
        """Write summary.json; errors of a read-only disk are ignored."""
        try:
            summary = msgspec.structs.replace(summary, counting=COUNTING)
            checked = msgspec.structs.replace(summary, checksum=crc32(as_json(summary)))
            write_atomically(self.summary_path, as_json(checked) + b"\n", mode=PRIVATE, is_derived=True)
        except OSError:
            return


def create_run(root: Path, manifest: Manifest) -> RunFolder:
    """Create the folder of a new run and write its manifest.

    Raises:
        UsageError: the folder exists or cannot be written.
    """
    run = RunFolder(root / manifest.id)
    try:
        root.mkdir(parents=True, exist_ok=True)
        make_private_folder(run.path)
        write_atomically(run.manifest_path, as_json(manifest) + b"\n", mode=PRIVATE)
    except FileExistsError:
        raise UsageError(
            "a run with this name already exists", where=str(run.path), hint="Try again: names have a random ending."
        ) from None
    except OSError as error:
        with contextlib.suppress(OSError):
            run.manifest_path.unlink(missing_ok=True)
            run.path.rmdir()
        raise UsageError(
            f"the runs folder cannot be written: {error.strerror}",
            where=str(root),
            hint="Make it writable, or choose another with --runs PATH.",
        ) from None
    return run


def new_run_id(suite: str, model: str, category: str = "", name: str = "", *, shard: Shard | None = None) -> str:
    """Return a folder name: UTC minute, model, suite, shard and six random characters, safe in any file system."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H%M")
    tail = os.urandom(3).hex()
    parts = [slug(name)] if name else [slug(model), slug(suite), slug(category)]
    part_of_plan = f"{shard.number}of{shard.of}" if shard else ""
    return "-".join(part for part in (stamp, *parts, part_of_plan, tail) if part)
