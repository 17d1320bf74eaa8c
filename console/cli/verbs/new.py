"""Write a suite of your own: a folder that runs at once with simulated models, with comments that explain it.

`--from questions.csv` builds it from your own table: the meaning of each column is guessed and reported, and the table
is copied into the folder.
"""

import argparse
import shlex
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_own_data
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.suites.allowed import allow
from console.suites.benchmark import built_in
from console.suites.benchmarks import find_benchmark
from console.suites.catalog import read_entry
from console.suites.folder_code import FolderCode
from console.suites.new_folder import new_suite, template_kinds

NEW_SUITE = JsonKind(
    "new_suite",
    "new",
    "The folder of a new suite.",
    {"suite": "its name", "folder": "its path", "files": "their paths", "notes": "how a table was read"},
)


class NewArguments(Arguments):
    name: str
    kind: str | None
    source: str | None
    python: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the suite: a new folder in --data, else in ./data")
    parser.add_argument(
        "--kind",
        metavar="KIND",
        help=f"one of {', '.join(template_kinds())} (default: {_usual()}, questions in a file)",
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE|HARNESS:TASK",
        help="build it from this table: .csv, .json, .jsonl or .yaml; or a task of another harness: "
        + ", ".join(f"{benchmark.name}:NAME" for benchmark in built_in() if benchmark.from_task),
    )
    parser.add_argument(
        "--python", metavar="PATH", default="python3", help="the Python that has the harness (default: the one on PATH)"
    )


def run(args: NewArguments) -> int:
    """Write the folder."""
    root = find_own_data(args.data)
    sentences: list[str] = []
    if args.source is None:
        files = new_suite(root, args.name, args.kind or _usual())
    elif (benchmark := find_benchmark(args.source.partition(":")[0], "from_task")) is not None:
        task = args.source.partition(":")[2]
        files, sentences = benchmark.load("from_task")(root, args.name, task, args.python)
        allow(FolderCode(read_entry(root / args.name)))  # the user has just named the code to run
    else:
        files, sentences = _from_table(args.kind or _usual(), root, args.name, Path(args.source))
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
    args.output.text(f"Check it: eval-console suites check {args.name}{data}")
    return Exit.OK


def _usual() -> str:
    """Return the default kind of a suite: the first benchmark that can be built from a table."""
    return next(benchmark.name for benchmark in built_in() if benchmark.from_table)


def _from_table(kind: str, root: Path, name: str, source: Path) -> tuple[list[Path], list[str]]:
    benchmark = find_benchmark(kind, "from_table")
    if benchmark is None:
        raise UsageError(f"a table can only become a suite of kind {_usual()}, not {kind}", where="--from")
    return benchmark.load("from_table")(root, name, source)
