"""Write a suite of your own: a folder that runs at once with simulated models, with comments that teach.

`--from questions.csv` makes it of your own table: its columns are looked at, what they are taken for is said, and the
table is copied into the folder.
"""

import argparse
import shlex
from pathlib import Path

from console.benchmarks.dialogue.data.proposal import write_from_table
from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_own_data
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.suites.new_folder import new_suite, template_kinds

NEW_SUITE = JsonKind(
    "new_suite",
    "new",
    "A suite's folder that was written.",
    {"suite": "its name", "folder": "its path", "files": "their paths", "notes": "how a table was read"},
)

_USUAL = "dialogue"


class NewArguments(Arguments):
    """Options of `new`."""

    name: str
    kind: str | None
    source: Path | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("name", metavar="NAME", help="name of the suite: of a new folder in --data, else in ./data")
    parser.add_argument(
        "--kind", metavar="KIND", help=f"one of {', '.join(template_kinds())} (default: {_USUAL}, questions in a file)"
    )
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="make it of this table: .csv, .json, .jsonl or .yaml"
    )


def run(args: NewArguments) -> int:
    """Write the folder.

    Raises:
        UsageError: a name that cannot be, a folder that is there, an unknown kind, or a disk that refuses.
    """
    root = find_own_data(args.data)
    sentences: list[str] = []
    if args.source is None:
        files = new_suite(root, args.name, args.kind or _USUAL)
    elif args.kind in (None, "dialogue"):
        files, sentences = write_from_table(root, args.name, args.source)
    else:
        raise UsageError(f"a table makes a suite of the kind dialogue, not {args.kind}", where="--from")
    if args.json:
        names = [str(path) for path in files]
        fields = {"suite": args.name, "folder": str(root / args.name), "files": names, "notes": sentences}
        args.output.data(NEW_SUITE, fields)
        return Exit.OK
    args.output.text(f"{args.name}: written")
    for path in files:
        args.output.text(f"  {path}")
    for sentence in sentences:
        args.output.text(sentence)
    data = "" if root == Path("data").absolute() else f" --data {shlex.quote(str(root))}"
    args.output.text(f"Try it: eval-console run -m sim/careful -s {args.name}{data}")
    args.output.text(f"Look it over: eval-console suites check {args.name}{data}")
    return Exit.OK
