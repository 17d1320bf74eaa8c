"""Rename, annotate, pin or archive runs. None of this changes a result.

An archived run is compressed to about a tenth and omitted from lists; every other command opens it as before, and
resuming it unpacks it. --no-archive unpacks it at once and lists it again. The new name is accepted wherever a run is
named.
"""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.exchange.json_kind import JsonKind
from console.store.journal_line import scrub
from console.store.run_archive import archive_run, restore_run
from console.store.run_marks import RunMarks, change_marks
from console.store.runs import RunFolder

ORGANIZED_RUN = JsonKind(
    "organized_run",
    "organize",
    "A reader's marks on one run.",
    {
        "run": "its name on disk",
        "name": "the reader's name for it; empty for the one it was started with",
        "note": "the reader's note",
        "pinned": "true if it is at the top of lists",
        "archived": "true if it is compressed and omitted from lists",
    },
    is_stream=True,
)


class OrganizeArguments(Arguments):
    which: list[str]
    name: str | None
    note: str | None
    pin: bool | None
    archive: bool | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="+", help="runs; without options, their marks are shown")
    parser.add_argument("--name", metavar="TEXT", help="a name for the run; an empty string restores the original name")
    parser.add_argument("--note", metavar="TEXT", help="a note on the run; an empty string removes it")
    parser.add_argument("--pin", action=argparse.BooleanOptionalAction, help="list it before the others")
    parser.add_argument(
        "--archive",
        action=argparse.BooleanOptionalAction,
        help="compress it, and omit it from lists; --no-archive undoes it",
    )


def run(args: OrganizeArguments) -> int:
    """Mark the runs."""
    for run in [args.find_run(name) for name in args.which]:
        run.manifest()
        given = {"name": args.name, "note": args.note, "pinned": args.pin}
        changed = {key: scrub(value.strip()) if isinstance(value, str) else value for key, value in given.items()}
        changes = {key: value for key, value in changed.items() if value is not None}
        marks = change_marks(run.path, **changes) if changes else run.marks
        if args.archive is not None:
            (archive_run if args.archive else restore_run)(run)
        _show(args, run, marks)
    return Exit.OK


def _show(args: OrganizeArguments, run: RunFolder, marks: RunMarks) -> None:
    if args.json:
        fields = {"name": marks.name, "note": marks.note, "pinned": marks.pinned, "archived": run.is_archived}
        args.output.data(ORGANIZED_RUN, {"run": run.name, **fields})
        return
    words = [f"named {marks.name}"] if marks.name else []
    words += ["pinned"] * marks.pinned + ["archived"] * run.is_archived + ([marks.note] if marks.note else [])
    args.output.text(f"{run.name}: {', '.join(words) or 'no marks'}")
    if args.archive:
        args.output.info(f"to list it again: eval-console organize {run.name} --no-archive")
