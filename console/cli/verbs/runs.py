"""List runs, newest first, from their summaries."""

import argparse
from datetime import UTC, datetime

import msgspec

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_runs_root
from console.core.fault import UsageError
from console.core.run import Summary
from console.store.runs import list_runs


class RunsArguments(Arguments):
    """Options of `runs`."""

    limit: int | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("-n", "--limit", type=int, metavar="N", help="only the newest N")


def run(args: RunsArguments) -> int:
    """List them; a damaged run is named on stderr and the others are listed all the same."""
    output = args.output
    summaries: list[Summary] = []
    for folder in list_runs(find_runs_root(args.runs))[: args.limit]:
        try:
            summaries.append(folder.summary())
        except UsageError as error:
            output.warn(str(error))
    if args.json:
        output.data([msgspec.to_builtins(summary) for summary in summaries])
    elif summaries:
        output.rows(_HEADINGS, [_row(summary) for summary in summaries], right=frozenset({4, 5, 6, 7}))
    else:
        output.say("nothing has been run yet; start with `eval-console run`")
    return Exit.OK


_HEADINGS = ("run", "when", "model", "state", "passed", "failed", "broken", "of")


def _row(summary: Summary) -> tuple[object, ...]:
    when = datetime.fromtimestamp(summary.at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    tally = summary.tally
    model = f"{summary.model} (simulated)" if summary.simulated else summary.model
    return (summary.id, when, model, summary.state, tally.passed, tally.failed, tally.broken, summary.planned)
