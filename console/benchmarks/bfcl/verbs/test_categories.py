"""List the official category collections and their categories, all of which are valid for `--test-category`."""

import argparse
from itertools import chain

from console.benchmarks.bfcl.rules.categories import COLLECTIONS
from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.exchange.json_kind import JsonKind

BFCL_CATEGORIES = JsonKind(
    "bfcl_categories",
    "bfcl test-categories",
    "Categories by collection.",
    {"collections": "categories of each collection"},
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""
    del parser


def run(args: Arguments) -> int:
    """List the collections, each name next to its first category."""
    if args.output.machine:
        args.output.data(BFCL_CATEGORIES, {"collections": COLLECTIONS})
        return Exit.OK
    rows = chain.from_iterable(
        ((collection if number == 0 else "", name) for number, name in enumerate(names))
        for collection, names in COLLECTIONS.items()
    )
    args.output.rows(("Test category", "Test names"), rows)
    return Exit.OK
