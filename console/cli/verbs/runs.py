"""List runs, newest first, from their summaries; pinned ones first, archived ones only on request."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.core.run import SIMULATED, Summary
from console.exchange.json_kind import JsonKind
from console.insight.number_format import is_free, moment, plural, spent_amount
from console.insight.run_number import headline, headline_legend
from console.store.run_list import count_runs, read_summaries

RUNS = JsonKind("runs", "runs", "All runs, the newest first.", {"runs": "summaries"})

SHOWN = 1000
"""Default number of runs in the table; JSON always has all."""


class RunsArguments(Arguments):
    limit: int | None
    all: bool
    archived: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--limit", type=int, metavar="N", help="only the newest N")
    parser.add_argument("--all", action="store_true", help=f"list all runs, not only the newest {SHOWN}")
    parser.add_argument("--archived", action="store_true", help="list the archived runs instead of the others")


def run(args: RunsArguments) -> int:
    """List the runs; a damaged run is reported on stderr."""
    root = args.runs_root
    limit = SHOWN if args.limit is None and not args.json and not args.all else args.limit
    summaries, others = _read(args, root, limit)
    if args.json:
        args.output.data(RUNS, {"runs": [msgspec.to_builtins(summary) for summary in summaries]})
        return Exit.OK
    if summaries:
        _show(args.output, summaries)
        for summary in summaries:
            if summary.batches:
                args.output.info(f"{summary.id} waits for {summary.batches}")
        if limit == SHOWN and (older := count_runs(root) - SHOWN - others) > 0:
            args.output.info(f"{older} older runs are not listed; --all lists them, -n N the newest N")
    if others and not args.archived:
        args.output.info(f"{plural(others, 'archived run')} not listed; --archived lists them")
    elif args.archived and not summaries:
        args.output.info("no run is archived; `eval-console organize RUN --archive` archives one")
    elif args.archived:
        args.output.info("`eval-console organize RUN --no-archive` lists a run among the others again")
    elif not summaries and not count_runs(root):
        args.output.info("nothing has been run yet; start with `eval-console run`")
    return Exit.OK


def _read(args: RunsArguments, root: Path, limit: int | None) -> tuple[list[Summary], int]:
    """Return the summaries to list, pinned ones first, and the number of omitted runs, archived or others."""
    summaries: list[Summary] = []
    others = 0
    for listed in read_summaries(root):
        if len(summaries) == limit:
            break
        if listed.summary is None:
            args.output.warn(listed.mistake)
        elif listed.summary.archived != args.archived:
            others += 1
        else:
            summaries.append(listed.summary)
            for damage in listed.summary.damages():
                args.output.warn(f"{listed.folder.name}: {damage}")
    return sorted(summaries, key=lambda summary: not summary.pinned), others


_COLUMNS: Mapping[str, Callable[[Summary], object]] = {
    "run": lambda summary: summary.id,
    "name": lambda summary: ", ".join(filter(None, (summary.name, "pinned" * summary.pinned))),
    "suite": lambda summary: summary.suite_label,
    "model": lambda summary: summary.model,
    "score": lambda summary: _score(summary),
    "cost": lambda summary: _cost(summary),
    "state": lambda summary: summary.state,
    "when": lambda summary: moment(summary.at),
    "of": lambda summary: summary.planned_cases,
    "broken": lambda summary: summary.tally.broken,
    "passed": lambda summary: summary.tally.passed,
    "failed": lambda summary: summary.tally.failed,
    "undecided": lambda summary: summary.tally.undecided,
    "left": lambda summary: summary.left,
    "not run": lambda summary: summary.tally.not_run,
}
"""Function that returns the cell of each column, by its heading."""
_RARE = ("broken", "undecided", "left", "not run")
"""Columns of counts that are shown only if one of them is not zero."""
_IMPORTANT = ("run", "score", "cost", "model", "suite", "name", "passed", "failed", *_RARE, "of", "state", "when")
"""Columns that narrow terminals drop last, the most important first."""
_NUMBERS = frozenset({"cost", "of", "broken", "passed", "failed", "undecided", "left", "not run"})
"""Right-aligned columns."""


def _show(output: Output, summaries: list[Summary]) -> None:
    """Print the table, with a column for names if a run has one."""
    is_named = any(summary.name or summary.pinned for summary in summaries)
    needless = {heading for heading in _RARE if not any(_COLUMNS[heading](summary) for summary in summaries)}
    needless |= set() if is_named else {"name"}
    headings = [heading for heading in _COLUMNS if heading not in needless]
    rows = [[_COLUMNS[heading](summary) for heading in headings] for summary in summaries]
    right = frozenset(n for n, heading in enumerate(headings) if heading in _NUMBERS)
    output.rows(headings, rows, right=right, first=_IMPORTANT)
    for words in headline_legend([*map(_score, summaries)]):
        output.prose(words, "faint")


def _score(summary: Summary) -> str:
    return headline(summary, brief=summary.is_shown_by_look)


def _cost(summary: Summary) -> str:
    return SIMULATED if is_free(summary.tally, summary.simulated_note) else spent_amount(summary.tally)
