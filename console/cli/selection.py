"""From command line options to a Plan: what is asked of whom, how much of it, and how far it may go."""

import argparse
import json
from pathlib import Path
from typing import Any

from console.cli.caps import CapArguments, add_cap_arguments, budget_of
from console.cli.listed import split
from console.core.fault import UsageError
from console.core.run import Selection
from console.engine.plan import Plan


class PlanArguments(CapArguments):
    """Options that describe a run."""

    model: str | None
    suite: str | None
    category: list[str]
    limit: int | None
    ids: list[str]
    sample: int | None
    seed: int | None
    rollouts: int
    concurrency: int | None
    mode: str | None
    option: list[str]
    judge: str | None
    embedding: str | None
    name: str


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a run."""
    what = parser.add_argument_group("what to run")
    what.add_argument("-m", "--model", metavar="NAME", help="a model of models.toml")
    what.add_argument("-s", "--suite", metavar="NAME", help="a suite (`eval-console suites`)")
    what.add_argument("--category", action="append", default=[], metavar="A,B", help="only these categories")
    what.add_argument("-n", "--limit", type=int, metavar="N", help="only the first N cases")
    what.add_argument("--ids", action="append", default=[], metavar="A,B|@FILE", help="only these cases")
    what.add_argument("--sample", type=int, metavar="N", help="N cases drawn at random")
    what.add_argument("--seed", type=int, metavar="S", help="seed of the draw (default 0)")
    what.add_argument("-r", "--rollouts", type=int, default=1, metavar="N", help="play each case N times")
    how = parser.add_argument_group("how to run it")
    how.add_argument("-c", "--concurrency", type=int, metavar="N", help="conversations at once")
    how.add_argument("--mode", choices=("fc", "prompt"), help="native tools, or tools in the prompt")
    how.add_argument("--option", action="append", default=[], metavar="K=V", help="a suite option; V is JSON or text")
    how.add_argument("--judge", metavar="NAME", help="model for the role judge")
    how.add_argument("--embedding", metavar="NAME", help="model for the role embedding")
    how.add_argument("--name", default="", metavar="TEXT", help="name of the run")
    add_cap_arguments(parser)


def plan_of(args: PlanArguments) -> Plan:
    """Return the plan that the options describe.

    Raises:
        UsageError: something needed is missing or does not fit; says which option.
    """
    return Plan(
        model=_needed(args.model, "-m", "Name a model with -m NAME; `eval-console models` lists them."),
        suite=_needed(args.suite, "-s", "Name a suite with -s NAME; `eval-console suites` lists them."),
        selection=_selection(args),
        options=dict(_option(text) for text in args.option),
        mode=args.mode,
        roles={role: name for role, name in (("judge", args.judge), ("embedding", args.embedding)) if name is not None},
        rollouts=args.rollouts,
        concurrency=args.concurrency,
        budget=budget_of(args),
        name=args.name,
        models_path=args.models,
        data_path=args.data,
        runs_path=args.runs,
    )


def _selection(args: PlanArguments) -> Selection:
    counts = (("--limit", args.limit), ("--sample", args.sample), ("--concurrency", args.concurrency))
    for flag, value in counts:
        if value is not None and value < 1:
            raise UsageError(f"must be at least 1, not {value}", where=flag)
    if args.sample is not None and args.limit is not None:
        raise UsageError("--sample and --limit exclude each other", cure="Give one of them.")
    if args.seed is not None and args.sample is None:
        raise UsageError("a seed needs a number of cases to draw", where="--seed", cure="Add --sample N.")
    return Selection(
        categories=split(args.category),
        ids=split([text if not text.startswith("@") else _read_ids(Path(text[1:])) for text in args.ids]),
        limit=args.limit if args.sample is None else args.sample,
        seed=None if args.sample is None else args.seed or 0,
    )


def _read_ids(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").replace("\n", ",")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the list of ids cannot be read: {error}", where=str(path)) from None


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{text!r} is not of the form name=value", where="--option")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _needed(value: str | None, flag: str, cure: str) -> str:
    if not value:
        raise UsageError("is needed", where=flag, cure=cure)
    return value
