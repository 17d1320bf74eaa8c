"""`UndoableNotes`: the notes of a run under review, with undo."""

from collections.abc import Mapping, Sequence

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Slot
from console.insight.rollout import Rollout
from console.store.notes import Note, Notes


class UndoableNotes:
    """Writes notes on cases and remembers those that they replaced."""

    def __init__(self, notes: Notes) -> None:
        """Start with nothing to undo; annotations are empty until `read`."""
        self.annotations: Mapping[Slot, Annotation] = {}
        self._notes = notes
        self._replaced: list[list[Note]] = []

    def read(self) -> Mapping[Slot, Annotation]:
        self.annotations = self._notes.annotations()
        return self.annotations

    def write(self, rollouts: Sequence[Rollout], kind: str, value: str) -> None:
        """Write a note on some cases; an empty value removes one.

        Raises:
            UsageError: the note cannot be written.
        """
        replaced: list[Note] = []
        for rollout in rollouts:
            annotation = self.annotations.get(rollout.slot, NO_ANNOTATION)
            replaced.append(Note(rollout.key, kind, _note_value(annotation, kind)))
            self._notes.add(Note(rollout.key, kind, value))
        self._replaced.append(replaced)

    def undo(self) -> Sequence[Note]:
        """Restore the notes that the last ones replaced, and return them; empty if there is nothing to undo.

        Raises:
            UsageError: the notes cannot be written.
        """
        restored = self._replaced.pop() if self._replaced else ()
        for note in restored:
            self._notes.add(note)
        return restored


def _note_value(annotation: Annotation, kind: str) -> str:
    if kind == "reviewed":
        return "yes" if annotation.reviewed else ""
    return {"tag": annotation.tag, "comment": annotation.comment, "dispute": annotation.dispute}[kind]
