"""List the official collections of categories with the categories of each, all of which `--test-category` takes."""

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
    """Add nothing."""
    del parser


def run(args: Arguments) -> int:
    """List them, the collection's name beside its first category."""
    if args.output.machine:
        args.output.data(BFCL_CATEGORIES, {"collections": COLLECTIONS})
        return Exit.OK
    rows = chain.from_iterable(
        ((collection if number == 0 else "", name) for number, name in enumerate(names))
        for collection, names in COLLECTIONS.items()
    )
    args.output.rows(("Test category", "Test names"), rows)
    return Exit.OK
