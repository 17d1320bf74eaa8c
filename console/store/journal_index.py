"""Index of a journal by conversation, for random access to single conversations.

Keeps three numbers for each line of a conversation and no text, so the index of a large run stays small. The index can
be saved next to the journal together with data derived by the caller, so that a finished run opens without reading the
journal. The saved file is derived: it is valid only while the journal is unchanged, to the byte and the nanosecond, and
may be deleted at any time.
"""

import contextlib
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import msgspec

from console.core.case import Key
from console.core.key_numbers import KeyNumbers, SavedNumbers
from console.core.ready_type import ready_type
from console.core.record import AnyRecord, Finished
from console.store.atomic import PRIVATE, read_regular, write_atomically
from console.store.journal import PIECE_BYTES, Damage, JournalReader, checksum_before
from console.store.journal_file import journal_status, open_journal, read_span
from console.store.journal_line import BadLine, Skimmed, decode, skim

MadeT = TypeVar("MadeT")
SAVED_FROM_BYTES = 1 << 20
"""Minimum size of a journal worth a saved index; a smaller one is read in a tenth of a second."""
_WORD = 4
"""Size in bytes of the two leading numbers of the saved file: its checksum and the length of the index part."""


class _SavedIndex(msgspec.Struct, array_like=True):
    layout: int
    """Version of the derived data; a program with another version reads the journal from its start."""
    size: int
    modified_ns: int
    last: int
    """Checksum of the last bytes indexed."""
    lines: int
    damages: list[Damage]
    checksum: int
    """Checksum of everything indexed."""
    numbers: SavedNumbers
    last_lines: bytes
    starts: bytes
    lengths: bytes
    before: bytes


class JournalIndex(JournalReader):
    """A journal reader with random access to conversations."""

    def __init__(self, path: Path, mark: int = 0) -> None:
        super().__init__(path, mark)
        self._starts, self._lengths = array("Q"), array("I")
        """First byte and length of every line that belongs to a conversation."""
        self._before = array("i")
        """Number of the previous line of the same conversation; -1 for the first."""
        self._numbers = KeyNumbers()
        self._last_lines = array("I")
        """Number of the last line of each conversation."""
        self.place = (0, 0)
        """First byte and length of the record yielded last."""

    def iter_new(self, limit_bytes: int = 64 << 20) -> Iterator[AnyRecord]:
        """Yield the records completed since the last call and index their positions."""
        start = self.offset
        for line in self._new_lines(limit_bytes):
            line_start, start = start, start + len(line) + 1
            if (record := self._record(line, decode)) is None:
                continue
            self.place = line_start, len(line)
            self._add_line(line_start, line, record)
            yield record

    def iter_ends(self) -> Iterator[Finished]:
        """Index the whole journal and yield the ends of conversations; other records are not decoded."""
        start = self.offset
        while lines := self._new_lines(PIECE_BYTES):
            for line in lines:
                line_start, start = start, start + len(line) + 1
                if (record := self._record(line, skim)) is not None:
                    self._add_line(line_start, line, record)
                if isinstance(record, Finished):
                    yield record

    def _add_line(self, start: int, line: bytes, record: AnyRecord | Skimmed) -> None:
        key = getattr(record, "key", None)
        if isinstance(key, Key):
            number = self._numbers.add(key.case, key.rollout, key.attempt)
            self._starts.append(start)
            self._lengths.append(len(line))
            if number == len(self._last_lines):
                self._before.append(-1)
                self._last_lines.append(len(self._before) - 1)
            else:
                self._before.append(self._last_lines[number])
                self._last_lines[number] = len(self._before) - 1  # last, as another thread may look up a conversation

    def keys(self) -> list[Key]:
        """Return all conversations seen so far, in order of first appearance."""
        return self._numbers.keys()

    def bytes_of(self, key: Key) -> int:
        """Return the number of journal bytes that belong to a conversation."""
        return sum(self._lengths[line] for line in self._lines_of(key))

    def count_from(self, key: Key, first_byte: int) -> int:
        """Return the number of a conversation's records that start at this byte or later."""
        return sum(self._starts[line] >= first_byte for line in self._lines_of(key))

    def _lines_of(self, key: Key) -> list[int]:
        """Return the line numbers of a conversation, in order."""
        lines: list[int] = []
        number, end = self._numbers.get(key.case, key.rollout, key.attempt), len(self._before)
        line = self._last_lines[number] if 0 <= number < len(self._last_lines) else -1
        while 0 <= line < end:  # the file of a saved index may have been written by anybody
            lines.append(line)
            line, end = self._before[line], line
        return lines[::-1]

    def record_at(self, span: tuple[int, int]) -> AnyRecord | None:
        """Return the record at a span from `place`, or None if it was changed since.

        Raises:
            OSError: the journal is missing.
        """
        with open_journal(self.path) as file:
            try:
                return decode(read_span(file, *span))
            except BadLine:
                return None

    def read(self, key: Key) -> list[AnyRecord]:
        """Return the records of one conversation in order, up to the indexed position."""
        lines = self._lines_of(key)
        if not lines:
            return []
        records: list[AnyRecord] = []
        with open_journal(self.path) as file:
            for line in lines:
                try:
                    record = decode(read_span(file, min(self._starts[line], self.offset), self._lengths[line]))
                except BadLine as error:
                    self.damages.append(Damage(0, f"changed since it was read: {error}"))
                    continue
                if getattr(record, "key", None) == key:
                    records.append(record)
                else:
                    self.damages.append(Damage(0, "changed since it was read: a record of another conversation"))
        return records

    # Saving ----------------------------------------------------------------------------------------------------------

    def save(self, path: Path, layout: int, derived: bytes) -> None:
        """Save the index to the file `path`, with the data `derived` from the records.

        Saves nothing unless the journal was read to its end; errors of the disk are ignored.
        """
        with contextlib.suppress(OSError):
            status = journal_status(self.path)
            if status.size != self.offset:
                return
            head = msgspec.msgpack.encode(
                _SavedIndex(
                    layout,
                    status.size,
                    status.modified_ns,
                    checksum_before(self.path, self.offset),
                    self.lines,
                    self.damages,
                    self.checksum,
                    self._numbers.saved(),
                    *(numbers.tobytes() for numbers in (self._last_lines, self._starts, self._lengths, self._before)),
                )
            )
            sums = crc32(derived, crc32(head)), len(head)
            parts = (*(number.to_bytes(_WORD, "big") for number in sums), head, derived)
            write_atomically(path, *parts, mode=PRIVATE, is_derived=True)

    def restore_saved(
        self, path: Path, layout: int, read: Callable[[memoryview], MadeT], *, live: bool
    ) -> MadeT | None:
        """Restore a saved index and return the caller's data; None if the journal must be read from its start.

        Args:
            path: file of the saved index.
            layout: same as given to `save`.
            read: decodes the derived data; raises ValueError if it cannot.
            live: True if an engine has the run, in which case the journal may have grown since.
        """
        try:
            data = memoryview(read_regular(path))
            total, length = (int.from_bytes(data[at : at + _WORD], "big") for at in (0, _WORD))
            body = data[2 * _WORD :]
            if crc32(body) != total:
                return None
            saved = msgspec.msgpack.decode(body[:length], type=ready_type(_SavedIndex))
            status = journal_status(self.path)
            same = status == (saved.size, saved.modified_ns)
            grown = live and status.size > saved.size and checksum_before(self.path, saved.size) == saved.last
            if saved.layout != layout or not (same or grown):
                return None
            last_lines, lengths = array("I", saved.last_lines), array("I", saved.lengths)
            starts, before = array("Q", saved.starts), array("i", saved.before)
            numbers = KeyNumbers.restored(saved.numbers)
            if not len(starts) == len(lengths) == len(before) or len(last_lines) != len(numbers):
                return None
            saved.last_lines = saved.lengths = saved.starts = saved.before = b""  # copied
            made = read(body[length:])
        except (OSError, ValueError, RecursionError):
            return None
        self.offset, self.lines, self.damages = saved.size, saved.lines, saved.damages
        self.checksum, self._numbers, self._last_lines = saved.checksum, numbers, last_lines
        self._starts, self._lengths, self._before = starts, lengths, before
        return made
