"""Reading single conversations out of a long journal: follow the journal once, remembering where every line is.

Keeps two numbers for each line that belongs to a conversation and no text, so the index of a large run stays small.
What was learnt by following can be kept beside the journal, with whatever the follower made of it, so that a finished
run opens without being read. That file is derived: it counts only while the journal is what it was, to the byte and the
nanosecond, and anybody may delete it.
"""

import contextlib
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import msgspec

from console.core.case import Key
from console.core.record import AnyRecord
from console.store.atomic import write_atomically
from console.store.journal import Damage, JournalReader
from console.store.line import BadLine, decode

KEPT_FROM_BYTES = 1 << 20
"""Shorter journals are read in less time than it is worth."""
_SUM_BYTES = 4
_LAST_BYTES = 256
"""Bytes before the end of what was followed, by which a journal that has grown is known again."""


class _Kept(msgspec.Struct, array_like=True):
    layout: int
    """Who can read `made`: a program with another number follows the journal anew."""
    size: int
    modified_ns: int
    last: int
    """Checksum of the last bytes that were followed."""
    lines: int
    damages: list[Damage]
    places: dict[Key, bytes]
    made: bytes


class JournalIndex(JournalReader):
    """A journal reader that can go back to one conversation."""

    def __init__(self, path: Path) -> None:
        """Point at a journal; it need not exist yet."""
        super().__init__(path)
        self._places: dict[Key, array[int]] = {}
        self.place = (0, 0)
        """Where the record that was yielded last stands: its first byte, and how many it has."""

    def iter_new(self, limit_bytes: int = 64 << 20) -> Iterator[AnyRecord]:
        """Yield the records completed since the last call, remembering their places."""
        start = self.offset
        for line in self._new_lines(limit_bytes):
            place, start = start, start + len(line) + 1
            self.lines += 1
            if not line:
                continue
            try:
                record = decode(line)
            except BadLine as error:
                self.damages.append(Damage(self.lines, str(error), error.is_newer))
                continue
            self.place = place, len(line)
            key = getattr(record, "key", None)
            if isinstance(key, Key):
                self._places.setdefault(key, array("Q")).extend((place, len(line)))
            yield record

    def keys(self) -> list[Key]:
        """All conversations seen so far, in order of first appearance."""
        return list(self._places)

    def bytes_of(self, key: Key) -> int:
        """How many bytes of the journal belong to a conversation."""
        return sum(self._places.get(key, array("Q"))[1::2])

    def count_from(self, key: Key, first_byte: int) -> int:
        """How many records of a conversation stand at this byte or behind it."""
        return sum(start >= first_byte for start in self._places.get(key, array("Q"))[::2])

    def record_at(self, place: tuple[int, int]) -> AnyRecord | None:
        """Return the record at a place that `place` has named; None when it was changed since.

        Raises:
            OSError: the journal is gone.
        """
        with self.path.open("rb") as file:
            try:
                return decode(os.pread(file.fileno(), place[1], place[0]))
            except BadLine:
                return None

    def read(self, key: Key) -> list[AnyRecord]:
        """Return the records of one conversation in order, as far as the journal was followed."""
        places = self._places.get(key)
        if places is None:
            return []
        records: list[AnyRecord] = []
        with self.path.open("rb") as file:
            for start, length in zip(places[::2], places[1::2], strict=True):
                try:
                    records.append(decode(os.pread(file.fileno(), length, start)))
                except BadLine as error:
                    self.damages.append(Damage(0, f"changed since it was read: {error}"))
        return records

    # Keeping ---------------------------------------------------------------------------------------------------------

    def keep(self, place: Path, layout: int, made: bytes) -> None:
        """Keep what was learnt in the file `place`, with what was `made` of the records.

        Nothing is kept unless the journal was followed to its end, nor on a disk that refuses.
        """
        with contextlib.suppress(OSError):
            status = self.path.stat()
            if status.st_size != self.offset:
                return
            places = {key: numbers.tobytes() for key, numbers in self._places.items()}
            head = (layout, status.st_size, status.st_mtime_ns, self._last(self.offset), self.lines, self.damages)
            body = msgspec.msgpack.encode(_Kept(*head, places, made))
            write_atomically(place, crc32(body).to_bytes(_SUM_BYTES, "big") + body)

    def recall(self, place: Path, layout: int, *, live: bool) -> bytes | None:
        """Take up what was kept and return what was made of it; None: follow the journal from its start.

        Args:
            place: the file.
            layout: as it was given to `keep`.
            live: whether an engine has the run: then the journal may have grown since.
        """
        try:
            data = place.read_bytes()
            body = memoryview(data)[_SUM_BYTES:]
            if crc32(body) != int.from_bytes(data[:_SUM_BYTES], "big"):
                return None
            kept = msgspec.msgpack.decode(body, type=_Kept)
            status = self.path.stat()
            same = (status.st_size, status.st_mtime_ns) == (kept.size, kept.modified_ns)
            grown = live and status.st_size > kept.size and self._last(kept.size) == kept.last
        except (OSError, msgspec.DecodeError):
            return None
        if kept.layout != layout or not (same or grown):
            return None
        self.offset, self.lines, self.damages = kept.size, kept.lines, kept.damages
        self._places = {key: array("Q", numbers) for key, numbers in kept.places.items()}
        return kept.made

    def _last(self, end: int) -> int:
        start = max(0, end - _LAST_BYTES)
        with self.path.open("rb") as file:
            return crc32(os.pread(file.fileno(), end - start, start))
