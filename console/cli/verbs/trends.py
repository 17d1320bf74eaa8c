"""Show each model on each suite over its runs; only runs of the same selection form one line.

With -m or -s, the last two runs of each line are compared case by case.
"""

import argparse
import dataclasses

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.cli.run_lookup import listed_runs
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.exchange.run_reader import RunReader
from console.insight.comparison import compare
from console.insight.comparison_report import verdict_words
from console.insight.number_format import bounds, cost_of, moment, number, signed, sparkline
from console.insight.trends import Point, Trend, trends

TRENDS = JsonKind(
    "trends", "trends", "Each model on each suite over its runs.", {"trends": "lines of runs of equal selections"}
)


class TrendsArguments(Arguments):
    model: str | None
    suite: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--model", metavar="NAME", help="only this model")
    parser.add_argument("-s", "--suite", metavar="NAME", help="only this suite")


def run(args: TrendsArguments) -> int:
    """Show the trends."""
    all_trends = trends(listed_runs(args))
    chosen = [trend for trend in all_trends if args.model in (None, trend.model) and args.suite in (None, trend.suite)]
    if all_trends and not chosen:
        names = sorted({f"{trend.model} on {trend.suite}" for trend in all_trends})
        raise UsageError("there is no run of this model and suite", hint=f"There are runs of: {', '.join(names[:8])}.")
    output = args.output  # shared by all tables: dropped columns are reported once
    if args.json:
        output.data(TRENDS, {"trends": [dataclasses.asdict(trend) for trend in chosen]})
        return Exit.OK
    for index, trend in enumerate(chosen):
        if index:
            output.text()
        _show(output, trend)
        if (args.model or args.suite) and len(trend.points) > 1:
            output.text(f"last step: {_last_step(args, trend)}")
    if not chosen:
        output.info("nothing has been run yet; start with `eval-console run`")
    return Exit.OK


def _show(output: Output, trend: Trend) -> None:
    mark = f"  ({trend.simulated_note})" if trend.simulated_note else ""
    values = [point.value for point in trend.points]
    bars = sparkline(values, 40, None if trend.score else 1.0) if len(values) > 1 else ""
    output.prose(f"{trend.model} on {trend.suite}, {trend.selection}{mark}  {bars}".rstrip(), "strong")
    measure = trend.score or "passed"
    rows = [_row(point, trend) for point in trend.points]
    output.rows(
        ("run", "when", "state", measure, "95 %", "change", "graded", "of", "cost"),
        rows,
        right=frozenset({6, 7, 8}),
        first=("run", measure, "95 %", "change", "when", "of", "cost"),
    )
    for words in filter(None, (trend.served, trend.grading)):
        output.prose(words, "warning")


def _last_step(args: TrendsArguments, trend: Trend) -> str:
    before, last = (RunReader(args.find_run(point.run)).side for point in trend.points[-2:])
    return verdict_words(compare(before, last))


def _row(point: Point, trend: Trend) -> tuple[object, ...]:
    when = moment(point.at)
    span = bounds(point.low, point.high, number if trend.score else None)
    change = "" if point.change is None else signed(point.change, trend.show)
    usd = point.cost_usd if point.cost_usd or not point.cost_unknown else None
    cost = cost_of(usd, trend.simulated_note, at_least=point.cost_unknown > 0)
    value = "—" if point.value is None else trend.show(point.value)
    return (point.run, when, point.state, value, span, change, point.graded, point.planned, cost)
