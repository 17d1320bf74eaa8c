"""The two phases of the official BFCL command with its flags, files and folders: generate, then evaluate offline."""

import argparse

from console.cli.parser import Arguments, VerbParser
from console.core.fault import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the phases."""
    phases = parser.add_subparsers(dest="phase", metavar="PHASE", title="phases", parser_class=VerbParser)
    phases.add_parser("generate", help="ask models and write result files").module = "bfcl_generate"
    phases.add_parser("evaluate", help="score result files offline").module = "bfcl_evaluate"


def run(args: Arguments) -> int:
    """Refuse to guess a phase."""
    raise UsageError("name a phase: generate or evaluate", hint="See `eval-console bfcl --help`.")
