"""What readers say of a run's cases: tags, comments, disputes, what they have looked at. Never mixed with results.

A dispute says that a case's ground truth is wrong, and why. It changes no outcome and no score by itself.
"""

import os
import time
from pathlib import Path
from typing import BinaryIO

import msgspec

from console.core.annotation import Annotation
from console.core.case import Key
from console.core.fault import UsageError
from console.core.json_text import decode_as
from console.core.ranges import Moment
from console.store.atomic import open_private

TAGS = ("model", "grader", "data", "prompt", "flaky", "unsure")
"""What a failure may be put down to."""
KINDS = ("tag", "comment", "dispute", "reviewed")
"""What can be said of a case."""


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """One remark. Later notes of the same kind and key supersede earlier ones; an empty value takes one back."""

    key: Key
    kind: str
    """One of `KINDS`."""
    value: str
    at: Moment = 0.0
    who: str = ""


class Notes:
    """notes.jsonl of one run, append-only."""

    def __init__(self, run_path: Path) -> None:
        """Read and write `notes.jsonl` of a run folder; the file is made with the first note."""
        self.path = run_path / "notes.jsonl"

    def add(self, note: Note) -> Note:
        """Append a note, stamped with time and reader, and return it as written.

        Raises:
            UsageError: the run folder cannot be written.
        """
        stamped = msgspec.structs.replace(note, at=note.at or time.time(), who=note.who or _reader())
        try:
            with open_private(self.path) as file:
                file.write(_gap(file) + msgspec.json.encode(stamped) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UsageError(f"the note cannot be kept: {error.strerror}", where=str(self.path)) from None
        return stamped

    def all(self) -> list[Note]:
        """Return every readable note in order of writing."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except OSError:
            return []
        return [note for line in lines if line and (note := _read(line)) is not None]

    def annotations(self) -> dict[tuple[str, int], Annotation]:
        """Return what stands of each case id and rollout; a note on an earlier attempt stands for its rollout."""
        by_slot: dict[tuple[str, int], dict[str, Note]] = {}
        for note in self.all():
            notes = by_slot.setdefault((note.key.case, note.key.rollout), {})
            notes.pop(note.kind, None)
            if note.value and note.kind in KINDS:
                notes[note.kind] = note
        return {slot: _remark(notes) for slot, notes in by_slot.items() if notes}


def _remark(notes: dict[str, Note]) -> Annotation:
    dispute = notes.get("dispute")
    return Annotation(
        tag=notes["tag"].value if "tag" in notes else "",
        comment=notes["comment"].value if "comment" in notes else "",
        dispute=dispute.value if dispute else "",
        disputed_by=dispute.who if dispute else "",
        disputed_at=dispute.at if dispute else 0.0,
        reviewed="reviewed" in notes,
    )


def _gap(file: BinaryIO) -> bytes:
    """Return a newline after a line that was cut off, so that the next one stays whole."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _read(line: bytes) -> Note | None:
    try:
        return decode_as(line, Note)
    except ValueError:
        return None


def _reader() -> str:
    import getpass  # here, as reading notes needs none

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
