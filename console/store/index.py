"""Reading single conversations out of a long journal: follow the journal once, remembering where every line is.

Keeps two numbers for each line that belongs to a conversation and no text, so the index of a large run stays small.
"""

import os
from array import array
from collections.abc import Iterator
from pathlib import Path

from console.core.case import Key
from console.core.record import AnyRecord
from console.store.journal import Damage, JournalReader
from console.store.line import BadLine, decode


class JournalIndex(JournalReader):
    """A journal reader that can go back to one conversation."""

    def __init__(self, path: Path) -> None:
        """Point at a journal; it need not exist yet."""
        super().__init__(path)
        self._places: dict[Key, array[int]] = {}

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
