"""List suites, or the categories and options of one; check a suite; print the schema of a format's rows.

`suites check NAME` reads all rows, plays a case of each category (at least five cases, if there are as many) with a
simulated model that answers right and wrong, and shows the cost of a run. `suites schema FORMAT` prints the JSON schema
of a row, for editors.
"""

import argparse
import json
from typing import Any

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.core.fault import UsageError
from console.core.suggestion import nearest
from console.exchange.json_kind import JsonKind
from console.suites.catalog import Catalog
from console.suites.modes import categories_with_modes, modes_of
from console.suites.suite import SuiteEntry

SUITES = JsonKind("suites", "suites", "All suites.", {"suites": "name, cases, origin, format and folder of each"})
SUITE = JsonKind(
    "suite",
    "suites SUITE",
    "One suite.",
    {
        "name": "its name",
        "title": "its title",
        "categories": "name, cases, modes and group of each",
        "modes": "name and meaning of each",
        "options": "name, kind, default and meaning of each",
    },
)
ROW_SCHEMA = JsonKind(
    "row_schema",
    "suites schema FORMAT",
    "The JSON Schema of one row of a format.",
    {"format": "its name", "row_schema": "the JSON Schema"},
)


class SuitesArguments(Arguments):
    words: list[str]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="*", metavar="SUITE | check SUITE | schema FORMAT", help="suite to show or check"
    )


def run(args: SuitesArguments) -> int:
    """List all suites, show or check one, or print a schema."""
    catalog = args.catalog
    words = args.words
    if not words:
        return _list(catalog, args)
    if len(words) == 1:
        return _show(catalog, words[0], args.output)
    if len(words) == 2 and words[0] == "check":
        from console.cli.suite_check import check_one

        return check_one(args, words[1])
    if len(words) == 2 and words[0] == "schema":
        return _schema(catalog, words[1], args.output)
    close = nearest(words[0], ("check", "schema"))
    hint = f"Did you mean `suites {close} {words[1]}`?" if close else "Name one suite."
    raise UsageError(f"unknown command `suites {' '.join(words)}`", hint=hint)


def _list(catalog: Catalog, args: SuitesArguments) -> int:
    for warning in catalog.warnings:
        args.output.warn(warning)
    suites = [_with_count(catalog, entry, args.output) for entry in catalog.entries()]
    if args.json:
        args.output.data(SUITES, {"suites": suites})
    else:
        rows = [
            (item["name"], "—" if item["cases"] is None else item["cases"], item["origin"], item["title"])
            for item in suites
        ]
        args.output.rows(("suite", "cases", "origin", "title"), rows, right=frozenset({1}))
    return Exit.OK


def _schema(catalog: Catalog, name: str, output: Output) -> int:
    suite = catalog.open_format(name)
    schema = suite.row_schema() if suite else None
    if schema is None:
        raise UsageError(
            f"the format {name!r} has no row schema" if suite else f"there is no format {name!r}",
            where="suites schema",
        )
    if output.machine:
        output.data(ROW_SCHEMA, {"format": name, "row_schema": schema})
    else:
        output.text(json.dumps(schema, indent=2))
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
            SUITE,
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
            },
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
