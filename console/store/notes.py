"""What readers say of a run's cases: tags, comments, disputes. Kept beside the results, never mixed with them."""

import getpass
import os
import time
from pathlib import Path
from typing import BinaryIO

import msgspec

from console.core.case import Key
from console.core.fault import UsageError

TAGS = ("model", "grader", "data", "prompt", "flaky", "unsure")
"""What a failure may be put down to."""


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """One remark. Later notes of the same kind and key supersede earlier ones; an empty value takes one back."""

    key: Key
    kind: str
    """`tag`, `comment`, `dispute`, `reviewed` or `mark`."""
    value: str
    at: float = 0.0
    who: str = ""


class Notes:
    """notes.jsonl of one run, append-only."""

    def __init__(self, run_path: Path) -> None:
        """Point at a run folder; the file is made with the first note."""
        self.path = run_path / "notes.jsonl"

    def add(self, note: Note) -> Note:
        """Append a note, stamped with time and reader, and return it as written.

        Raises:
            UsageError: the run folder cannot be written.
        """
        stamped = msgspec.structs.replace(note, at=note.at or time.time(), who=note.who or _reader())
        try:
            with self.path.open("a+b") as file:
                file.write(_gap(file) + msgspec.json.encode(stamped) + b"\n")
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

    def current(self, kind: str) -> dict[Key, Note]:
        """Return the standing note of one kind for every key that has one."""
        standing = {note.key: note for note in self.all() if note.kind == kind}
        return {key: note for key, note in standing.items() if note.value}


def _gap(file: BinaryIO) -> bytes:
    """Return a newline after a line that was cut off, so that the next one stays whole."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _read(line: bytes) -> Note | None:
    try:
        return msgspec.json.decode(line, type=Note)
    except msgspec.DecodeError:
        return None


def _reader() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
