"""`RunReader`: a whole run, read in one pass over its journal; conversations are built on demand."""

from collections.abc import Mapping

from console.core.annotation import Annotation
from console.core.case import Key, Slot
from console.core.run import Manifest
from console.insight.comparison_side import ComparisonSide
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.store.journal_file import journal_status
from console.store.journal_index import JournalIndex
from console.store.notes import Notes
from console.store.runs import RunFolder


class RunReader:
    """A run's journal, read to its present end; builds any of its conversations."""

    def __init__(self, folder: RunFolder) -> None:
        """Read the journal once.

        Raises:
            UsageError: the folder is not a run.
        """
        self.folder = folder
        self.side = ComparisonSide(folder.manifest())
        self._index = JournalIndex(folder.journal_path)
        self._seen = 0
        self.follow()

    @property
    def is_behind(self) -> bool:
        """True if the journal has grown since it was read."""
        return self._size() != self._seen

    def _size(self) -> int:
        try:
            return journal_status(self.folder.journal_path).size
        except OSError:
            return 0

    def follow(self) -> None:
        """Read the records written since the last call."""
        self._seen = self._size()
        for record in self._index.iter_all():
            self.side.apply(record)

    @property
    def manifest(self) -> Manifest:
        return self.side.manifest

    @property
    def ordered(self) -> list[Rollout]:
        """The attempt at each rollout that counts, in order of first start."""
        return sorted(self.side.rollouts.values(), key=lambda rollout: rollout.order)

    @property
    def damages(self) -> int:
        """Number of unreadable journal lines."""
        return len(self._index.damages)

    def conversation(self, key: Key) -> Conversation:
        """Return an attempt's full conversation."""
        from console.exchange.imports.in_place import (
            whole_records,  # lazy, since it reads the formats of other programs
        )

        conversation = Conversation(key, self.folder.read_file)
        for record in whole_records(self.manifest, self._index.read(key)):
            conversation.apply(record)
        return conversation

    def annotations(self) -> Mapping[Slot, Annotation]:
        return Notes(self.folder.path).annotations()
