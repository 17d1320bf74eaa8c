"""Show the help of a verb, as `VERB --help` does; without a verb, of the whole program."""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments, build


class HelpArguments(Arguments):
    """Options of `help`."""

    verb_words: list[str]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the words that name a verb."""
    parser.add_argument(
        "verb_words", metavar="VERB", nargs="*", help="a verb, such as run, or several words: bfcl evaluate"
    )


def run(args: HelpArguments) -> int:
    """Show it.

    Raises:
        UsageError: there is no such verb.
    """
    try:
        build().parse_args([*args.verb_words, "--help"])
    except SystemExit:
        return Exit.OK
    raise AssertionError("--help ends the parsing")
