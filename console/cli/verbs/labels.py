"""Show people's labels on a run, and write or read them as JSON lines for people who label elsewhere.

Each line has `case`, `rollout` (from 1), `reader` and `verdict` (passed, failed or unclear); `round` (from 1, of a
loop), `blind`, `grades` (by criterion), `remark` and `settled` may be added. A later label of the same reader replaces
the earlier one.
"""

import argparse
from pathlib import Path

import msgspec

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.cli.verbs.label import show_reader_score
from console.core.fault import UsageError
from console.exchange.exports.files import require_folder, write_file
from console.exchange.reader_labels import LabelQueue, label_lines, read_label_lines
from console.insight.number_format import plural
from console.store.notes import Notes


class LabelsArguments(Arguments):
    which: str
    export: Path | None
    import_: Path | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="?", default="latest", help="name, part of a name, or latest")
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the labels to this file")
    parser.add_argument("--import", type=Path, metavar="FILE", dest="import_", help="add the labels of this file")


def run(args: LabelsArguments) -> int:
    """Import or export labels, then show the corrected score."""
    folder = args.find_run(args.which)
    if args.export is not None and args.import_ is not None:
        raise UsageError("--export and --import cannot be combined", hint="Give one of them.")
    if args.export is not None:
        require_folder(args.export)
        lines = list(label_lines(folder))
        write_file(args.export, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        args.output.info(f"{plural(len(lines), 'label')} written to {args.export}")
    if args.import_ is not None:
        notes = read_label_lines(args.import_, folder)
        Notes(folder.path).add_all(notes)
        args.output.info(f"{plural(len(notes), 'label')} added")
    show_reader_score(args.output, LabelQueue(folder))
    return Exit.OK
