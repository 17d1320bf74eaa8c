"""Show the official release that the rules are tested against, and the installed data."""

import argparse

from console import __version__
from console.benchmarks.bfcl.data.pull import OFFICIAL
from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.exchange.json_kind import JsonKind

BFCL_VERSION = JsonKind(
    "bfcl_version",
    "bfcl version",
    "The official release that the rules are tested against.",
    {
        "bfcl": "the release",
        "eval_console": "version of this program",
        "data": "release of each installed suite",
    },
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""
    del parser


def run(args: Arguments) -> int:
    """Print the versions."""
    entries = [entry for entry in args.catalog.entries() if entry.format == "bfcl"]
    data = {entry.name: entry.source.get("version", "unknown") for entry in entries}
    if args.output.machine:
        args.output.data(BFCL_VERSION, {"bfcl": OFFICIAL.version, "eval_console": __version__, "data": data})
        return Exit.OK
    args.output.text(f"bfcl version: {OFFICIAL.version}")
    args.output.text(f"eval-console {__version__} implements its rules")
    for name, version in data.items():
        args.output.text(f"data {name}: {version}")
    return Exit.OK
