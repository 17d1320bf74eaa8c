"""A reader's marks on a whole run: its name, a note, and whether it is pinned. Never mixed with results.

Stored in one small file of the run, replaced as a whole; a damaged one counts as empty.
"""

from pathlib import Path

import msgspec

from console.core.fault import os_errors_as
from console.core.json_text import decode_as
from console.store.atomic import PRIVATE, read_regular, write_atomically

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
        return decode_as(read_regular(run / MARKS), RunMarks)
    except (OSError, ValueError):
        return RunMarks()


def write_marks(run: Path, marks: RunMarks) -> None:
    """Replace the marks of a run folder.

    Raises:
        UsageError: the folder cannot be written.
    """
    with os_errors_as("the run cannot be marked", where=run):
        write_atomically(run / MARKS, msgspec.json.encode(marks) + b"\n", mode=PRIVATE)
