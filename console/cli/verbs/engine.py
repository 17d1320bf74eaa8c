"""Play a prepared run in a separate process (started by the app and by `run --detach`)."""

import argparse
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.history import save_overview
from console.cli.parser import Arguments
from console.cli.run_report import exit_code
from console.cli.target_arguments import add_target_arguments, target_of
from console.engine.launch import run_in_foreground
from console.engine.plan import reopen
from console.engine.player_factory import player_factory
from console.engine.queue import RetryScope
from console.store.lock import RunLocked
from console.store.runs import RunFolder


class EngineArguments(Arguments):
    path: Path
    retry: str
    only: list[str]
    to_the_end: bool
    on: str | None
    workers: int | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FOLDER", help="the run's folder")
    parser.add_argument("--retry", choices=[item.value for item in RetryScope], default=RetryScope.NONE.value)
    parser.add_argument("--only", action="append", default=[], metavar="CASE")
    parser.add_argument("--to-the-end", action="store_true")
    add_target_arguments(parser)


def run(args: EngineArguments) -> int:
    """Play the run, reporting only problems."""
    folder = RunFolder(args.path.resolve())
    prepared = reopen(folder, args.workspace)
    try:
        with player_factory(target_of(args)) as player:
            ending = run_in_foreground(
                folder,
                prepared,
                retry=RetryScope(args.retry),
                only=frozenset(args.only),
                to_the_end=args.to_the_end,
                player=player,
                on_signal=args.output.warn,
            )
    except RunLocked as locked:
        args.output.warn(str(locked))
        return Exit.LOCKED
    save_overview(ending.folder)
    return exit_code(ending.folder.summary(), None, None, ending.signal)
