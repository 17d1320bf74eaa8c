"""Keep a case of a run as a row in a suite of your own, so that every later run of the suite includes it.

The row holds the conversation, its tools and checks, the model's answers, and its origin. The suite is created if it
does not exist; its other rows stay unchanged, and the same case is kept only once.
"""

import argparse
import shlex
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.parser import Arguments, read_input
from console.cli.verbs.tag import add_rollout, find_rollout
from console.config.paths import find_own_data
from console.exchange.json_kind import JsonKind
from console.exchange.kept_case import USUAL_SUITE, keep_row, propose_row
from console.suites.run_suite import open_run_suite

KEPT_CASE = JsonKind(
    "kept_case",
    "keep RUN#CASE",
    "A case of a run that was kept as a row of a suite.",
    {
        "suite": "its name",
        "file": "the file of rows",
        "line": "of the row",
        "id": "of the row",
        "new": "false if the same case was kept there before, and nothing was written",
        "outcome": "outcome of the recorded answers by the row's checks; empty if a judge decides, or without answers",
        "simulated": "true for answers of a simulated model",
        "note": "missing parts of the row; empty if complete",
        "command": "plays the row with the same model",
    },
)
OWN_ROW = JsonKind(
    "own_row", "keep --show-row", "A case as the row that would be kept, for editing.", {"text": "the row as JSON"}
)


class KeepArguments(Arguments):
    which: str
    to: str
    expect: str | None
    row: Path | None
    show_row: bool
    rollout: int


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN#CASE", help="a case of a run; `latest#CASE` for the newest run")
    parser.add_argument(
        "--to", metavar="SUITE", default=USUAL_SUITE, help=f"a suite of yours, or a new one (default: {USUAL_SUITE})"
    )
    parser.add_argument("--expect", metavar="JSON", help='other checks, such as \'[{"contains": "Lisbon"}]\'')
    parser.add_argument("--show-row", action="store_true", help="write the row for editing; keep nothing")
    parser.add_argument("--row", type=Path, metavar="FILE", help="file with the edited row; `-` for stdin")
    add_rollout(parser)


def run(args: KeepArguments) -> int:
    """Keep the case."""
    reader, rollout = find_rollout(args, args.which, args.rollout)
    proposed = propose_row(reader, rollout, open_run_suite(reader.manifest, args.data))
    if args.show_row:
        if args.json:
            args.output.data(OWN_ROW, {"text": proposed.text})
        else:
            args.output.file(proposed.text)
        return Exit.OK
    if args.row is not None:
        proposed = proposed.edited(read_input(args.row))
    if args.expect is not None:
        proposed = proposed.expecting(args.expect)
    added = keep_row(args.data, args.to, proposed)
    words = ["run", "-m", reader.manifest.model.name, "-s", args.to, "--ids", added.id]
    root = find_own_data(args.data)
    words += [] if root == Path("data").absolute() else ["--data", str(root)]
    command = shlex.join(["eval-console", *words])
    if args.json:
        where = {"suite": args.to, "file": str(added.file), "line": added.line, "id": added.id, "new": added.is_new}
        facts = {"outcome": added.outcome, "simulated": reader.manifest.model.simulated, "note": added.note}
        args.output.data(KEPT_CASE, {**where, **facts, "command": command})
        return Exit.OK
    done = "kept as" if added.is_new else "was kept before, as"
    simulated = " (simulated)" if reader.manifest.model.simulated else ""
    args.output.text(f"{rollout.key}{simulated} {done} {added.id}: {added.file}:{added.line}")
    if added.note:
        args.output.warn(added.note)
    args.output.text(f"Play it: {command}")
    return Exit.OK
