"""A reader's marks on a whole run: its name, a note, and whether it is pinned. Never mixed with results.

Stored in one small file of the run, replaced as a whole; a damaged one counts as empty.
"""

from pathlib import Path

import msgspec

from console.core.json_text import decode_as
from console.store.atomic import change_file, read_regular

MARKS = "marks.json"


class RunMarks(msgspec.Struct, frozen=True, omit_defaults=True):
    """The marks of one run."""

    name: str = ""
    """Replaces the name given at the start of the run; empty to keep that."""
    note: str = ""
    pinned: bool = False
    """True to list it before the others."""


def read_marks(run: Path) -> RunMarks:
    """Return the marks of a run folder; those of an unmarked run are empty."""
    try:
        return _decoded(read_regular(run / MARKS))
    except OSError:
        return RunMarks()


def change_marks(run: Path, **changes: str | bool) -> RunMarks:
    """Change some marks of a run folder, and return all of them.

    Raises:
        UsageError: the folder cannot be written.
    """
    marks = RunMarks()

    def changed(before: bytes | None) -> bytes:
        nonlocal marks
        marks = msgspec.structs.replace(_decoded(before or b""), **changes)
        return msgspec.json.encode(marks) + b"\n"

    change_file(run / MARKS, changed, is_private=True, failure="the run cannot be marked")
    return marks


def _decoded(data: bytes) -> RunMarks:
    try:
        return decode_as(data, RunMarks)
    except ValueError:
        return RunMarks()
