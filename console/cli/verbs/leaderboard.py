"""Rank all models on each suite: finished runs only, with an interval for every rate."""

import argparse
from typing import Any

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.cli.run_lookup import listed_runs, suite_facts
from console.cli.sections import show_section
from console.core.fault import UsageError
from console.core.suggestion import suggest
from console.exchange.json_kind import JsonKind
from console.exchange.leaderboard_measures import completed
from console.exchange.score_columns import columns_section, score_columns
from console.insight.leaderboard import Leaderboard, leaderboards, mark_of
from console.insight.number_format import bounds, number, plain_number, rate
from console.suites.leaderboard import NOT_PLAYED, Cell, notes_of

LEADERBOARD = JsonKind(
    "leaderboard",
    "leaderboard",
    "All models ranked on each suite.",
    {"boards": "suite, columns, their units, and rows of each"},
)


class LeaderboardArguments(Arguments):
    suite: str | None
    all: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-s", "--suite", metavar="NAME", help="only this suite")
    parser.add_argument(
        "--all", action="store_true", help="all columns: single categories, and columns without a number"
    )


def run(args: LeaderboardArguments) -> int:
    """Show the leaderboard."""
    runs = listed_runs(args)
    boards = leaderboards(runs, *suite_facts(runs, args))
    if args.suite is not None:
        names = [board.suite for board in boards]
        if args.suite not in names:
            hint = suggest(args.suite, names, f"There are runs of: {', '.join(names) or 'nothing yet'}.")
            raise UsageError(f"there is no finished run of {args.suite!r}", where="--suite", hint=hint)
        boards = [board for board in boards if board.suite == args.suite]
    boards = [completed(board, args.find_run) for board in boards]
    if args.json:
        args.output.data(LEADERBOARD, {"boards": [_as_json(board) for board in boards]})
        return Exit.OK
    for index, board in enumerate(boards):
        args.output.text(("\n" if index else "") + board.suite, "strong")
        _show(args.output, board, every=args.all)
        folders = [(row.model, args.find_run(row.runs[0])) for row in board.rows if len(row.runs) == 1]
        columns = columns_section((model, score_columns(folder, args.data)) for model, folder in folders)
        if columns is not None:
            args.output.text()
            show_section(args.output, columns)
    if not boards:
        args.output.info("no run has finished yet; start with `eval-console run`")
    return Exit.OK


def _show(output: Output, board: Leaderboard, *, every: bool) -> None:
    sums = [name for name in board.rules.sums if name in board.columns]
    valued = [name for name in board.columns if any(row.cells[name].value is not None for row in board.rows)]
    summed = [name for name in sums if name in valued]
    columns = board.columns if every else list(dict.fromkeys([board.columns[0], *(summed or valued)]))
    rows: list[tuple[object, ...]] = []
    for place, row in enumerate(board.rows):
        cells = (cell_text(row.cells[name]) for name in columns)
        rows.append((board.rank(place) or "–", row.model, row.simulated_note, row.mode, *cells))
    headings = [board.with_unit(name, name) for name in columns]
    output.rows(
        ("", "model", "origin", "mode", *headings), rows, right=frozenset({0}), first=("", "model", "origin", *headings)
    )
    for legend in filter(None, (board.rules.legend, "   ".join(board.legend), board.grading)):
        output.prose(legend, "warning")
    for row in board.rows:
        for note in notes_of({name: row.cells[name] for name in columns}):
            output.prose(f"  {row.model} {note}", "faint")


def cell_text(cell: Cell) -> str:
    """Return a number with its interval; `—` with the missing parts, or `N/A` if nothing was played."""
    if cell.value is None:
        return cell.missing if cell.is_played else NOT_PLAYED
    if cell.unit == "plain":
        return f"{plain_number(cell.value)}{mark_of(cell.note)}"
    show = None if cell.unit == "rate" else number
    text = f"{(show or rate)(cell.value)}{mark_of(cell.note)}"
    if cell.low is None or cell.high is None:
        return text
    return f"{text} {bounds(cell.low, cell.high, show)}"


def _as_json(board: Leaderboard) -> dict[str, Any]:
    return {
        "suite": board.suite,
        "columns": list(board.columns),
        "units": dict(board.units),
        "graded_differently": board.grading,
        "rows": [
            {
                "rank": board.rank(place),
                "model": row.model,
                "mode": row.mode,
                "simulated": bool(row.simulated_note),
                "runs": list(row.runs),
                "cost_usd": row.cost_usd if not row.cost_unknown else None,
                "cells": {
                    name: {
                        "value": cell.value,
                        "low": cell.low,
                        "high": cell.high,
                        "count": cell.count,
                        "cases": cell.cases,
                        "rollouts": cell.count,
                        "clusters": cell.clusters,
                        "method": cell.method,
                        "note": cell.note,
                    }
                    for name, cell in row.cells.items()
                },
            }
            for place, row in enumerate(board.rows)
        ],
    }
