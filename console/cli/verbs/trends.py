"""Follow each model on each suite over its runs; the change is shown between runs of the same cases only."""

import argparse
import dataclasses
from datetime import UTC, datetime

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.cli.run_lookup import listed_runs
from console.core.fault import UsageError
from console.exchange.comparison_table import signed
from console.insight.number_format import money, number, rate, sparkline
from console.insight.trends import Point, Trend, trends


class TrendsArguments(Arguments):
    """Options of `trends`."""

    model: str | None
    suite: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("-m", "--model", metavar="NAME", help="only this model")
    parser.add_argument("-s", "--suite", metavar="NAME", help="only this suite")


def run(args: TrendsArguments) -> int:
    """Show them.

    Raises:
        UsageError: no run fits.
    """
    all_trends = trends(listed_runs(args))
    chosen = [trend for trend in all_trends if args.model in (None, trend.model) and args.suite in (None, trend.suite)]
    if all_trends and not chosen:
        names = sorted({f"{trend.model} on {trend.suite}" for trend in all_trends})
        raise UsageError("no run is of this model and suite", hint=f"There are runs of: {', '.join(names[:8])}.")
    if args.json:
        args.output.data({"schema": 1, "trends": [dataclasses.asdict(trend) for trend in chosen]})
        return Exit.OK
    for index, trend in enumerate(chosen):
        if index:
            args.output.text()
        _show(args.output, trend)
    if not chosen:
        args.output.say("nothing has been run yet; start with `eval-console run`")
    return Exit.OK


def _show(output: Output, trend: Trend) -> None:
    mark = "  (simulated)" if trend.simulated else ""
    values = [point.value for point in trend.points]
    bars = sparkline(values, 40, None if trend.score else 1.0) if len(values) > 1 else ""
    output.text(f"{trend.model} on {trend.suite}{mark}  {bars}".rstrip(), "strong")
    measure = trend.score or "passed"
    rows = [_row(point, trend) for point in trend.points]
    output.rows(
        ("run", "when", "state", measure, "95 %", "change", "graded", "of", "cost"), rows, right=frozenset({6, 7, 8})
    )


def _row(point: Point, trend: Trend) -> tuple[object, ...]:
    show = number if trend.score else rate
    when = datetime.fromtimestamp(point.at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    span = "" if point.low is None or point.high is None else f"{show(point.low)} to {show(point.high)}"
    change = "" if point.change is None else signed(point.change, show)
    cost = money(
        point.cost_usd if point.cost_usd or not point.cost_unknown else None, at_least=bool(point.cost_unknown)
    )
    value = "—" if point.value is None else show(point.value)
    return (point.run, when, point.state, value, span, change, point.graded, point.planned, cost)
