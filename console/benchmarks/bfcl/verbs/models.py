"""List the models of the official registry in its order, by the names valid for result folders and `bfcl_name`.

With --json, all facts about each: API, decode family and leaderboard data.
"""

import argparse

import msgspec

from console.benchmarks.bfcl.models.profile import profiles
from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.exchange.json_kind import JsonKind

BFCL_MODELS = JsonKind("bfcl_models", "bfcl models", "The official registry.", {"models": "its rows"})


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""
    del parser


def run(args: Arguments) -> int:
    """List the models."""
    if args.output.machine:
        args.output.data(BFCL_MODELS, {"models": [msgspec.to_builtins(row) for row in profiles().values()]})
    else:
        for name in profiles():
            args.output.text(name)
    return Exit.OK
