"""Show the main columns of the summary table written by `bfcl evaluate`."""

import argparse
import csv
import io
from pathlib import Path

from console.benchmarks.bfcl.files.layout import project_root
from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.core.fault import UsageError, reason_of
from console.exchange.json_kind import JsonKind
from console.store.atomic import open_regular

BFCL_SCORES = JsonKind(
    "bfcl_scores",
    "bfcl scores",
    "The summary table of the scores.",
    {"rows": "rank, name and aggregates of each model"},
)

_COLUMNS = {
    0: "Rank",
    2: "Model",
    1: "Overall Acc",
    8: "Non-Live AST Acc",
    13: "Live Acc",
    18: "Multi Turn Acc",
    30: "Relevance",
    31: "Irrelevance",
}
"""Index and heading of the shown columns, in the official order; the official command fails on a missing column."""
_WIDTH = 36
"""Number of columns in the table."""


class ScoresArguments(Arguments):
    """Options of `bfcl scores`."""

    score_dir: Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the official flag."""
    parser.add_argument("--score-dir", type=Path, default=Path("score"), metavar="DIR")


def run(args: ScoresArguments) -> int:
    """Show the table.

    Raises:
        UsageError: the file is missing or not a summary table.
    """
    path = project_root() / args.score_dir / "data_overall.csv"
    try:
        with io.TextIOWrapper(open_regular(path), encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        hint = "`eval-console bfcl evaluate` writes it."
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path), hint=hint) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"is not a summary table: {reason_of(error)}", where=str(path)) from None
    for number, row in enumerate(rows, 1):
        if len(row) != _WIDTH:
            raise UsageError(f"has {len(row)} columns, not {_WIDTH}", where=f"{path}:{number}")
    shown = [[row[column] for column in _COLUMNS] for row in rows[1:]]
    if args.output.machine:
        rows = [dict(zip(_COLUMNS.values(), row, strict=True)) for row in shown]
        args.output.data(BFCL_SCORES, {"rows": rows})
    else:
        args.output.rows(list(_COLUMNS.values()), shown, right=frozenset((0, *range(2, len(_COLUMNS)))))
    return Exit.OK
