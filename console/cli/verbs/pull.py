"""Get official benchmark data: a pinned release, through your own pip configuration or from a file you have."""

import argparse
import importlib
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.core.suggestion import nearest
from console.exchange.json_kind import JsonKind
from console.suites.pull import Pull

PULL = JsonKind("pull", "pull", "Data that was brought here.", {"name": "its name", "folder": "where it is kept"})

SOURCES = {
    "bfcl": "console.benchmarks.bfcl.data.pull",
    "aidanbench": "console.benchmarks.aidanbench.data.pull",
    "cavebench": "console.benchmarks.cavebench.data.pull",
    "minilm": "console.suites.minilm_pull",
}
"""Modules that pull, each with a function `pull`, by the name of what they bring."""


class PullArguments(Arguments):
    """Options of `pull`."""

    name: str
    from_path: Path | None
    accept_digest: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("name", metavar="NAME", help=f"what to get: {', '.join(SOURCES)}")
    parser.add_argument(
        "--from", dest="from_path", type=Path, metavar="PATH", help="a wheel, checkout or folder you have"
    )
    parser.add_argument(
        "--accept-digest", action="store_true", help="take files that are not the pinned ones; never comparable"
    )


def run(args: PullArguments) -> int:
    """Bring the data below the data folder and say where it is.

    Raises:
        UsageError: nothing of that name can be pulled, or the pull failed.
    """
    module = SOURCES.get(args.name)
    if module is None:
        close = nearest(args.name, SOURCES)
        hint = f"Did you mean {close}?" if close else f"These can be pulled: {', '.join(SOURCES)}."
        raise UsageError(f"nothing called {args.name!r} can be pulled", hint=hint)
    root = args.data or find_data_roots(None).pulled
    request = Pull(root, args.output.info, args.from_path, accepts_digest=args.accept_digest)
    folder = importlib.import_module(module).pull(request)
    if args.json:
        args.output.data(PULL, {"name": args.name, "folder": str(folder)})
    else:
        args.output.text(f"{args.name} is in {folder}")
    return Exit.OK
