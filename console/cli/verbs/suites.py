"""List suites, or the categories and options of one."""

import argparse
from typing import Any

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.suites.catalog import Catalog
from console.suites.modes import categories_with_modes, modes_of
from console.suites.suite import SuiteEntry


class SuitesArguments(Arguments):
    """Options of `suites`."""

    suite: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("suite", nargs="?", metavar="SUITE", help="show this one's categories and options")


def run(args: SuitesArguments) -> int:
    """List all suites, or show one."""
    catalog = Catalog(find_data_roots(args.data))
    if args.suite is not None:
        return _show(catalog, args.suite, args.output)
    for warning in catalog.warnings:
        args.output.warn(warning)
    suites = [_with_count(catalog, entry, args.output) for entry in catalog.entries()]
    if args.json:
        args.output.data(suites)
    else:
        rows = [(item["name"], item["cases"], item["origin"], item["title"]) for item in suites]
        args.output.rows(("suite", "cases", "origin", "title"), rows, right=frozenset({1}))
    return Exit.OK


def _with_count(catalog: Catalog, entry: SuiteEntry, output: Output) -> dict[str, Any]:
    try:
        cases = sum(category.cases for category in catalog.open(entry.name).categories())
    except UsageError as error:
        output.warn(str(error))
        cases = None
    return {
        "name": entry.name,
        "cases": cases,
        "format": entry.format,
        "title": entry.title,
        "origin": entry.origin,
        "comparable": entry.comparable,
        "folder": str(entry.folder),
        "source": entry.source,
    }


def _show(catalog: Catalog, name: str, output: Output) -> int:
    suite = catalog.open(name)
    categories, modes = categories_with_modes(suite), modes_of(suite)
    if output.machine:
        output.data(
            {
                "name": name,
                "title": suite.entry.title,
                "categories": [
                    {"name": item.name, "cases": item.cases, "modes": item.modes, "group": item.group}
                    for item in categories
                ],
                "modes": [{"name": mode.name, "meaning": mode.meaning} for mode in modes],
                "options": [
                    {"name": item.name, "kind": item.kind, "default": item.default, "meaning": item.meaning}
                    for item in suite.options
                ],
            }
        )
        return Exit.OK
    output.text(suite.entry.title, "strong")
    rows = [(item.name, item.cases, item.group, " ".join(item.modes)) for item in categories]
    output.rows(("category", "cases", "group", "modes"), rows, right=frozenset({1}))
    output.text()
    output.rows(("mode", "meaning"), [(mode.name, mode.meaning) for mode in modes])
    if suite.options:
        output.text()
        options = [(item.name, item.kind, item.default, item.meaning) for item in suite.options]
        output.rows(("option", "kind", "default", "meaning"), options)
    return Exit.OK
