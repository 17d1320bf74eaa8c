"""Bring the search index of a runs folder up to date (started by the app), at the lowest priority."""

import argparse
import contextlib
import os

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.exchange.search.indexing import IndexUpdate
from console.store.lock import RunLocked

_LOWEST = 19


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(args: Arguments) -> int:
    """Update the index; exit when the process that started this one does."""
    parent = os.getppid()
    with contextlib.suppress(OSError):
        os.nice(_LOWEST)
    try:
        IndexUpdate(args.runs_root, stopped=lambda: os.getppid() != parent).run()
    except RunLocked:
        return Exit.LOCKED
    return Exit.OK
