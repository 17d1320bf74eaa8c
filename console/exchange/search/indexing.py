"""Updates of the search index: new journal records are read and indexed, one conversation at a time.

A conversation is indexed when it ends, or unfinished when its run is no longer played. All text comes from the journal,
whose secrets are already removed.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from zlib import crc32

import msgspec

from console.core.case import Key, case_digest
from console.core.fault import Fault, UsageError, reason_of
from console.core.record import AnyRecord, Finished, Started
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.rollout import NO_TRACKS, Rollout
from console.insight.search_query import INDEXED_AS, index_text
from console.store.journal import checksum_before, records_at
from console.store.journal_file import journal_status
from console.store.journal_index import JournalIndex
from console.store.run_list import list_runs
from console.store.runs import RunFolder
from console.store.search_index import (
    Entry,
    IndexDamaged,
    IndexedRun,
    OpenConversation,
    Place,
    SearchWriter,
    discard_index,
)

COMMIT_AFTER_S = 1.0
_PIECE_BYTES = 1 << 20
_TITLE_LIMIT = 160


class RunFacts(msgspec.Struct, array_like=True):
    """Facts about a run, shown with hits and histories."""

    at: float
    suite: str
    model: str
    simulated: bool = False
    parent: str = ""
    title: str = ""
    """Name given by the user."""


class ConversationFacts(msgspec.Struct, array_like=True):
    """Facts about a conversation, stored next to its words."""

    rollout: Rollout
    """The case without its texts, which are in the journal."""
    digest: str
    """Digest of the case as played."""
    starts: list[int]
    """Offsets of its records in the journal."""


LAYOUT = crc32(
    repr((INDEXED_AS, *(kind.__struct_fields__ for kind in (RunFacts, ConversationFacts, Rollout)))).encode()
)
_encode = msgspec.msgpack.Encoder().encode


class Progress(msgspec.Struct, frozen=True):
    """Number of bytes indexed so far, over all journals."""

    done: int
    total: int

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


class IndexUpdate:
    """Brings the index of one runs folder up to date."""

    def __init__(
        self,
        root: Path,
        *,
        stopped: Callable[[], bool] = lambda: False,
        notify: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        """Prepare an update.

        Args:
            root: the runs folder.
            stopped: called often; True ends the update, which the next one continues.
            notify: called occasionally with the progress.
        """
        self._root = root
        self._stopped, self._notify = stopped, notify
        self._done = self._total = 0
        self._committed_at = 0.0

    def run(self) -> None:
        """Index everything that is new.

        Raises:
            RunLocked: another process is updating the index.
            UsageError: the index cannot be written.
        """
        try:
            try:
                self._update()
            except IndexDamaged:
                discard_index(self._root)
                self._update()
        except (IndexDamaged, OSError, sqlite3.Error, Fault) as error:
            raise UsageError(
                f"the search index cannot be written: {reason_of(error)}",
                where=str(self._root),
                hint="Make the folder writable, or free some disk space.",
            ) from None

    def _update(self) -> None:
        folders = list_runs(self._root)
        with SearchWriter(self._root, LAYOUT) as writer:
            by_name = {run.name: run for run in writer.runs()}
            for name in by_name.keys() - {folder.name for folder in folders}:
                writer.close_run(by_name.pop(name))
            if writer.is_wasteful:
                writer.start_over()
                by_name.clear()
            self._total = sum(_size(folder) for folder in folders)
            self._done = sum(run.place.offset for run in by_name.values())
            self._committed_at = time.monotonic()
            for folder in folders:
                if self._stopped():
                    break
                with contextlib.suppress(UsageError, OSError):  # no longer a run, or not readable
                    RunUpdate(writer, folder, by_name.get(folder.name), self._pause).run()
            writer.commit()
            self._notify(Progress(self._total, self._total))

    def _pause(self, writer: SearchWriter, read: int) -> bool:
        """Commit if a commit is due; return whether to stop."""
        self._done += read
        if time.monotonic() - self._committed_at > COMMIT_AFTER_S:
            writer.commit()
            self._committed_at = time.monotonic()
            self._notify(Progress(min(self._done, self._total), self._total))
            return self._stopped()
        return False


class RunUpdate:
    """Indexes the new records of one run."""

    def __init__(
        self,
        writer: SearchWriter,
        folder: RunFolder,
        indexed: IndexedRun | None,
        pause: Callable[[SearchWriter, int], bool],
    ) -> None:
        self._writer = writer
        self._folder = folder
        self._indexed = indexed
        self._pause = pause
        self._records: dict[Key, list[AnyRecord]] = {}
        """Records of unfinished conversations read so far by this update."""

    def run(self) -> None:
        """Index the run.

        Raises:
            UsageError: the folder is not a run.
            OSError: the journal cannot be read.
        """
        status = journal_status(self._folder.journal_path)
        place = self._indexed.place if self._indexed is not None else Place()
        is_same = (place.size, place.modified_ns) == status
        if is_same and place.is_settled:
            return
        is_live = self._folder.is_live
        if is_same and is_live and self._indexed is not None:
            return
        manifest = self._folder.manifest()
        if self._indexed is not None and not self._is_continued(place, status.size):
            self._writer.close_run(self._indexed)
            self._indexed = None
        model = manifest.model
        facts = RunFacts(manifest.at, manifest.suite, model.name, model.simulated, manifest.parent, manifest.name)
        run = self._indexed or self._writer.open_run(self._folder.name, manifest.at, _encode(facts))
        run.place.size = run.place.modified_ns = 0
        run.place.is_settled = False
        try:
            if self._read(run, manifest):
                run.place.size, run.place.modified_ns = status
                if not is_live:
                    self._settle(run, manifest)
        finally:
            self._writer.keep_place(run)

    def _is_continued(self, place: Place, size: int) -> bool:
        return place.offset <= size and checksum_before(self._folder.journal_path, place.offset) == place.last

    def _read(self, run: IndexedRun, manifest: Manifest) -> bool:
        """Index the conversations that have ended since; return False if stopped."""
        place, path = run.place, self._folder.journal_path
        reader = JournalIndex(path)
        reader.offset = place.offset
        unfinished = {conversation.key: conversation for conversation in place.open}
        while True:
            before = reader.offset
            for record in reader.iter_new(_PIECE_BYTES):
                key = getattr(record, "key", None)
                if not isinstance(key, Key):
                    continue
                if key not in unfinished:
                    if not isinstance(record, Started | Finished):
                        continue  # of a conversation whose beginning was damaged, or that has ended
                    unfinished[key] = OpenConversation(key, [])
                    self._records[key] = []
                unfinished[key].starts.append(reader.place[0])
                if key in self._records:
                    self._records[key].append(record)
                if isinstance(record, Finished):
                    self._add(run, manifest, unfinished.pop(key))
            place.offset, place.last = reader.offset, checksum_before(path, reader.offset)
            place.open = list(unfinished.values())
            self._writer.keep_place(run)
            if reader.offset == before:
                return True
            if self._pause(self._writer, reader.offset - before):
                return False

    def _settle(self, run: IndexedRun, manifest: Manifest) -> None:
        """Index the unfinished conversations of a run that is no longer played."""
        for conversation in run.place.open:
            if conversation.indexed < len(conversation.starts):
                conversation.number = self._add(run, manifest, conversation)
                conversation.indexed = len(conversation.starts)
        run.place.is_settled = True

    def _add(self, run: IndexedRun, manifest: Manifest, conversation: OpenConversation) -> int:
        records = self._records.pop(conversation.key, None)
        if records is None:
            records = list(records_at(self._folder.journal_path, conversation.starts))
        if conversation.number >= 0:
            self._writer.drop([conversation.number])
        return self._writer.add(run, manifest.suite, _entry(manifest, conversation, records))


def _entry(manifest: Manifest, conversation: OpenConversation, records: list[AnyRecord]) -> Entry:
    overview, digest = Overview(), ""
    for record in records:
        overview.apply(record)
        if isinstance(record, Started):
            digest = case_digest(record.case)
    rollout = next(iter(overview.rollouts.values()), None) or Rollout(conversation.key, 0)
    rollout = msgspec.structs.replace(
        rollout, title=rollout.title[:_TITLE_LIMIT], message="", recent_text="", tracks=NO_TRACKS
    )
    facts = ConversationFacts(rollout, digest, conversation.starts)
    return Entry(conversation.key.case, index_text(conversation_of(manifest, records).passages), _encode(facts))


def conversation_of(manifest: Manifest, records: Iterable[AnyRecord]) -> Conversation:
    """Build a conversation from its records; from the brief ones, if the log that its run shows in place is missing."""
    from console.exchange.imports.in_place import whole_records  # here, as histories are read without it

    records = list(records)
    conversation = Conversation(next((key for record in records if (key := getattr(record, "key", None))), Key("")))
    with contextlib.suppress(UsageError):
        records = whole_records(manifest, records)
    for record in records:
        conversation.apply(record)
    return conversation


def _size(folder: RunFolder) -> int:
    try:
        return journal_status(folder.journal_path).size
    except OSError:
        return 0
