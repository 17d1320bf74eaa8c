"""List the models with result files, and when each one's folder was created or changed."""

import argparse
from datetime import datetime
from pathlib import Path

from console.benchmarks.bfcl.files.layout import project_root
from console.benchmarks.bfcl.files.scores import in_directory_order
from console.benchmarks.bfcl.models.profile import profile_of_folder
from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.exchange.json_kind import JsonKind

BFCL_RESULTS = JsonKind(
    "bfcl_results", "bfcl results", "Models with result files.", {"models": "name and creation time of each"}
)


class ResultsArguments(Arguments):
    """Options of `bfcl results`."""

    result_dir: Path


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the official flag."""
    parser.add_argument("--result-dir", type=Path, default=Path("result"), metavar="DIR")


def run(args: ResultsArguments) -> int:
    """List models in directory order, marking folders not named after a registry model."""
    root = project_root() / args.result_dir
    rows: list[tuple[str, str]] = []
    for folder in in_directory_order(root):
        profile = profile_of_folder(folder)
        if profile is None:
            args.output.warn(f"Unknown model name: {folder}")
        changed = datetime.fromtimestamp((root / folder).stat().st_ctime).astimezone()
        rows.append((profile.name if profile else folder, f"{changed:%Y-%m-%d %H:%M:%S}"))
    if args.output.machine:
        args.output.data(BFCL_RESULTS, {"models": [{"model": name, "created": time} for name, time in rows]})
    else:
        args.output.rows(("Model name", "Creation time"), rows)
    return Exit.OK
