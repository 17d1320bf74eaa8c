"""Reader notes on a run's cases: tags, comments, disputes and review marks. Never mixed with results.

Labels come from a model called by a reader and are stored next to the readers' tags, never instead of them. A dispute
states that a case's ground truth is wrong, and why; by itself it changes no outcome and no score.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from console.core.annotation import Annotation, Label, PeopleVerdict, ReaderLabel
from console.core.case import Key, Slot
from console.core.fault import os_errors_as
from console.core.json_text import decode_as
from console.core.ranges import Moment
from console.store.atomic import open_private, read_regular
from console.store.durable import sync_file

TAGS = ("model", "grader", "data", "prompt", "flaky", "unsure")
"""Causes to which a reader can attribute a failure."""
KINDS = ("tag", "comment", "dispute", "reviewed")
"""Kinds of note a reader can make on a case."""
LABEL, UNREADABLE = "label", "unreadable"
"""Kinds of note for a model's label, and for a paid reply that could not be parsed as a label."""
NO_CIRCUMSTANCES = ReaderLabel()
READER_LABEL = "verdict"
"""Kind of note for a reader's own verdict on an answer; each reader has one."""


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """One note. Later notes of the same kind and key supersede earlier ones; an empty value retracts."""

    key: Key
    kind: str
    """One of `KINDS`, `LABEL` or `UNREADABLE`."""
    value: str
    at: Moment = 0.0
    who: str = ""
    label: Label | None = None
    """For labels, their retractions and unreadable replies: the model and the prompt digest."""
    reader: ReaderLabel | None = None
    """For readers' verdicts: their circumstances."""


class Notes:
    """notes.jsonl of one run, append-only."""

    def __init__(self, run_path: Path) -> None:
        """Use `notes.jsonl` of a run folder; the file is created with the first note."""
        self.path = run_path / "notes.jsonl"

    def add(self, note: Note) -> Note:
        """Append a note, stamped with time and reader, and return it as written.

        Raises:
            UsageError: the run folder cannot be written.
        """
        stamped = msgspec.structs.replace(note, at=note.at or time.time(), who=note.who or user_name())
        self.add_all([stamped])
        return stamped

    def add_all(self, notes: Sequence[Note]) -> None:
        """Append notes unchanged, such as those of another run.

        Raises:
            UsageError: the run folder cannot be written.
        """
        if not notes:
            return
        with os_errors_as("the note cannot be saved", where=self.path), open_private(self.path) as file:
            file.write(_missing_newline(file) + b"".join(msgspec.json.encode(note) + b"\n" for note in notes))
            file.flush()
            sync_file(file.fileno())

    def all(self) -> list[Note]:
        """Return every readable note in order of writing."""
        try:
            lines = read_regular(self.path).split(b"\n")
        except OSError:
            return []
        return [note for line in lines if line and (note := _decode_note(line)) is not None]

    def annotations(self) -> dict[Slot, Annotation]:
        """Return the current annotation by case id and rollout; notes on earlier attempts apply to their rollout."""
        notes = self.all()
        by_slot: dict[Slot, dict[str, Note]] = {}
        for note in notes:
            of_slot = by_slot.setdefault(note.key.slot, {})
            of_slot.pop(note.kind, None)
            if note.value and note.kind in KINDS:
                of_slot[note.kind] = note
        labels, people = current_labels(notes), people_verdicts(notes)
        return {
            slot: _annotation_of(of_slot, labels.get(slot), people.get(slot, {}))
            for slot, of_slot in by_slot.items()
            if of_slot or slot in labels or slot in people
        }


def reader_labels(notes: Iterable[Note]) -> dict[tuple[Slot, int | None], list[Note]]:
    """Return the current verdicts of readers by case id, rollout and round, in order of writing.

    Each reader has one, and may have another that settles a disagreement.
    """
    by_answer: dict[tuple[Slot, int | None], dict[tuple[str, bool], Note]] = {}
    for note in notes:
        if note.kind == READER_LABEL:
            about = note.reader or NO_CIRCUMSTANCES
            of_answer = by_answer.setdefault((note.key.slot, about.round), {})
            of_answer.pop((note.who, about.settled), None)
            if note.value:
                of_answer[note.who, about.settled] = note
    return {answer: list(labels.values()) for answer, labels in by_answer.items() if labels}


def people_verdicts(notes: Iterable[Note]) -> dict[Slot, dict[int | None, PeopleVerdict]]:
    """Return the readers' labels of each answer, by case id and rollout, and by round."""
    verdicts: dict[Slot, dict[int | None, PeopleVerdict]] = {}
    for (slot, number), labels in reader_labels(notes).items():
        by_reader: dict[str, str] = {}
        criteria: dict[str, tuple[int, ...]] = {}
        settled = ""
        for note in labels:
            about = note.reader or NO_CIRCUMSTANCES
            if about.settled:
                settled = note.value
                continue
            by_reader[note.who] = note.value
            for name, grade in about.grades.items():
                criteria[name] = (*criteria.get(name, ()), grade)
        verdicts.setdefault(slot, {})[number] = PeopleVerdict(by_reader, settled, criteria)
    return verdicts


def current_labels(notes: Iterable[Note], model: str | None = None) -> dict[Slot, Label]:
    """Return the newest label by case id and rollout; retracting one uncovers that of another model.

    Args:
        notes: all notes, in order of writing.
        model: only labels of this model.
    """
    by_slot: dict[Slot, dict[str, Label]] = {}
    for note in notes:
        if note.kind == LABEL and note.label is not None and model in (None, note.label.model):
            labels = by_slot.setdefault(note.key.slot, {})
            labels.pop(note.label.model, None)
            if note.value:
                labels[note.label.model] = note.label
    return {slot: list(labels.values())[-1] for slot, labels in by_slot.items() if labels}


def retract_labels(notes: Notes, model: str = "") -> tuple[str, int]:
    """Retract the labels of a model, or of the model that labeled last.

    Returns:
        The model and the number of labels retracted; 0 if there were none.

    Raises:
        UsageError: the notes cannot be written.
    """
    written = notes.all()
    newest = [note.label.model for note in written if note.kind == LABEL and note.value and note.label is not None]
    standing = {label.model for name in dict.fromkeys(newest) for label in current_labels(written, name).values()}
    name = model or next((name for name in reversed(newest) if name in standing), "")
    labels = current_labels(written, name)
    unread = (note.key for note in written if note.kind == UNREADABLE and note.label and note.label.model == name)
    for case, rollout in dict.fromkeys([*labels, *(key.slot for key in unread)]):
        notes.add(Note(Key(case, rollout), LABEL, "", who=name, label=Label("", model=name)))
    return name, len(labels)


def _annotation_of(
    notes: Mapping[str, Note], label: Label | None, people: Mapping[int | None, PeopleVerdict]
) -> Annotation:
    dispute = notes.get("dispute")
    return Annotation(
        tag=notes["tag"].value if "tag" in notes else "",
        comment=notes["comment"].value if "comment" in notes else "",
        dispute=dispute.value if dispute else "",
        disputed_by=dispute.who if dispute else "",
        disputed_at=dispute.at if dispute else 0.0,
        reviewed="reviewed" in notes,
        label=label,
        people=people.get(None),
        rounds={number: verdict for number, verdict in people.items() if number is not None},
    )


def _missing_newline(file: BinaryIO) -> bytes:
    """Return a newline if the last line was cut off, so that the next one stays intact."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _decode_note(line: bytes) -> Note | None:
    try:
        return decode_as(line, Note)
    except ValueError:
        return None


def user_name() -> str:
    """Return the user's name, the default for readers; empty if unknown."""
    import getpass  # imported late: reading notes does not need it

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
