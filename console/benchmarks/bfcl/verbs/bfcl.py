"""The official BFCL command with its flags, files and folders: generation, offline evaluation, and lists."""

import argparse

from console.cli.parser import Arguments, VerbParser
from console.core.fault import UsageError

PHASES = {
    "generate": "run models and write result files",
    "evaluate": "score result files offline",
    "models": "list the models of the official registry",
    "test-categories": "list the categories and their collections",
    "results": "list the models with result files",
    "scores": "show the summary table of the scores",
    "version": "show the official release that the rules are tested against",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the phases."""
    phases = parser.add_subparsers(dest="phase", metavar="PHASE", title="phases", parser_class=VerbParser)
    for name, words in PHASES.items():
        phases.add_parser(name, help=words).module = f"console.benchmarks.bfcl.verbs.{name.replace('-', '_')}"


def run(args: Arguments) -> int:
    """Raise UsageError, because a phase is required."""
    raise UsageError(f"name a phase: {', '.join(PHASES)}", hint="See `eval-console bfcl --help`.")
