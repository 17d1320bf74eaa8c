"""Play the runs of a queue one after another (started whenever something is queued)."""

import argparse
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.engine.runner import play_queue
from console.store.lock import RunLocked


class RunnerArguments(Arguments):
    path: Path


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FOLDER", help="the folder of runs")


def run(args: RunnerArguments) -> int:
    """Play the queue, reporting only problems."""
    try:
        play_queue(args.path.resolve(), args.output.warn)
    except RunLocked:
        return Exit.LOCKED
    return Exit.OK
