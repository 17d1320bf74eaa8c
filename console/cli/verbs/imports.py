"""Make a run of results of another tool, to be reviewed, compared and exported like any other; nothing is asked."""

import argparse
from pathlib import Path

from console.cli.bfcl_phase import add_reading_arguments
from console.cli.exitcode import Exit
from console.cli.history import read_history, report_of
from console.cli.parser import Arguments
from console.cli.run_report import show_report
from console.config.paths import find_data_roots, find_runs_root
from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.suites.catalog import Catalog

FORMATS = ("verifiers", "bfcl", "cavebench")


class ImportArguments(Arguments):
    """Options of `import`."""

    path: Path
    form: str | None
    suite: str
    mode: str | None
    read_as: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a results folder or file")
    parser.add_argument("--format", dest="form", choices=FORMATS, help="whose results they are (default: found out)")
    parser.add_argument("-s", "--suite", default="bfcl", metavar="NAME", help="bfcl: the data that was asked")
    add_reading_arguments(parser)


def run(args: ImportArguments) -> int:
    """Import them.

    Raises:
        UsageError: the files are missing, damaged, or do not fit the data; nothing was made then.
    """
    if not args.path.exists():
        raise UsageError("does not exist", where=str(args.path))
    folder = _import_run(args, args.form or _guess_format(args.path))
    history = read_history(folder)
    try:
        report = report_of(history, args.data)
    except UsageError as error:
        args.output.warn(str(error))
        report = None
    show_report(args.output, history, report)
    return Exit.OK


def _import_run(args: ImportArguments, form: str) -> RunFolder:
    runs_root = find_runs_root(args.runs)
    if form == "verifiers":
        from console.exchange.verifiers_import import import_results as from_verifiers

        return from_verifiers(args.path, runs_root)
    if form == "cavebench":
        from console.exchange.cavebench_import import import_results as from_cavebench

        return from_cavebench(args.path, runs_root)
    from console.exchange.bfcl_import import import_results as from_bfcl

    suite = Catalog(find_data_roots(args.data)).open(args.suite)
    if suite.entry.format != "bfcl":
        raise UsageError(f"{args.suite} is not in the BFCL format", where="--suite")
    return from_bfcl(args.path, suite, runs_root, handler=args.read_as, mode=args.mode)


def _guess_format(path: Path) -> str:
    """Return whose results these look like.

    Raises:
        UsageError: nothing known is there.
    """
    if path.name == "results.jsonl" or (path.is_dir() and next(path.rglob("results.jsonl"), None)):
        return "verifiers"
    if path.name.startswith("BFCL_v4_") or (path.is_dir() and next(path.rglob("BFCL_v4_*_result.json"), None)):
        return "bfcl"
    if path.is_file() and path.suffix == ".json":
        return "cavebench"
    raise UsageError(
        "holds no results that are known here",
        where=str(path),
        hint=f"Say whose they are: --format {'|'.join(FORMATS)}.",
    )
