"""Options that both phases of the BFCL command share: models, categories, result folder, data and mode."""

import argparse
from pathlib import Path

from console.benchmarks.bfcl.files.layout import project_root
from console.benchmarks.bfcl.rules.categories import resolve
from console.benchmarks.bfcl.suite import BfclSuite
from console.cli.name_lists import split
from console.cli.parser import Arguments
from console.core.fault import UsageError


class PhaseArguments(Arguments):
    """Options of either phase."""

    model: list[str]
    test_category: list[str]
    result_dir: Path
    suite: str
    mode: str | None


def results_folder(args: PhaseArguments) -> Path:
    """Return the folder of result files, relative to the project root."""
    return project_root() / args.result_dir


def categories_of(args: PhaseArguments, default: str) -> list[str]:
    """Return the categories of `--test-category`, or of the default collection.

    Raises:
        UsageError: unknown category.
    """
    return resolve(split(args.test_category) or [default])


def open_bfcl(args: PhaseArguments) -> BfclSuite:
    """Open the suite.

    Raises:
        UsageError: unknown suite, or not BFCL.
    """
    suite = args.catalog.open(args.suite)
    if not isinstance(suite, BfclSuite):
        raise UsageError(f"{args.suite} is not a BFCL suite", where="--suite", hint="Try `eval-console pull bfcl`.")
    return suite


def add_phase_arguments(parser: argparse.ArgumentParser, *, models: str, categories: str) -> None:
    """Add the official flags that both phases share, then the option for the suite.

    Args:
        parser: parser of the phase.
        models: help of `--model`.
        categories: default of `--test-category`.
    """
    parser.add_argument("--model", action="append", default=[], metavar="A,B", help=models)
    parser.add_argument("--test-category", action="append", default=[], metavar="X,Y", help=f"default: {categories}")
    parser.add_argument("--result-dir", type=Path, default=Path("result"), metavar="DIR")
    parser.add_argument("-s", "--suite", default="bfcl", metavar="NAME", help="suite with the data (default: bfcl)")


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that specify the decoding of answers."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--handler",
        dest="read_as",
        metavar="NAME|FAMILY",
        help="decode answers like a model of the official registry, or by a decode family",
    )
    group.add_argument(
        "--mode", choices=("fc", "prompt"), help="decode them as native calls or text, the formats of our own runs"
    )


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `import` for result files."""
    parser.add_argument("-s", "--suite", default="bfcl", metavar="NAME", help="for BFCL results: suite with the data")
    add_reading_arguments(parser)
