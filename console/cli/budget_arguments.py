"""Command-line options for budgets: money, tokens, time, errors.

A resumed run keeps its own budget unless a new one is given.
"""

import argparse

from console.cli.parser import Arguments
from console.config.preset import read_time
from console.core.fault import UsageError
from console.core.ranges import LARGEST_COUNT
from console.core.run import Budget


class BudgetArguments(Arguments):
    """Options that cap a run."""

    max_cost: float | None
    max_tokens: int | None
    max_time: str | None
    max_errors: int | None


def add_budget_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that cap a run."""
    caps = parser.add_argument_group("caps (a run stops at a cap and can be resumed with a higher one)")
    caps.add_argument("--max-cost", type=float, metavar="USD", help="money")
    caps.add_argument("--max-tokens", type=int, metavar="N", help="input plus output tokens")
    caps.add_argument("--max-time", metavar="T", help="time: 90, 10m, 2h")
    caps.add_argument("--max-errors", type=int, metavar="N", help="broken cases")


def budget_of(args: BudgetArguments, base: Budget | None = None) -> Budget:
    """Return the requested caps, with those of `base` as defaults."""
    base = base or Budget()
    caps = (
        ("--max-cost", args.max_cost),
        ("--max-tokens", args.max_tokens),
        ("--max-errors", args.max_errors),
    )
    for flag, value in caps:
        if value is not None and not 0 < value <= LARGEST_COUNT:
            raise UsageError("must be more than 0, and at most 2^53", where=flag)
    return Budget(
        cost_usd=base.cost_usd if args.max_cost is None else args.max_cost,
        tokens=base.tokens if args.max_tokens is None else args.max_tokens,
        seconds=base.seconds if args.max_time is None else seconds(args.max_time),
        errors=base.errors if args.max_errors is None else args.max_errors,
    )


def seconds(text: str) -> float:
    """Parse a time: a number of seconds, or one with s, m or h."""
    try:
        return read_time(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a time", where="--max-time", hint="Write 90, 10m or 2h.") from None
