"""Builds a preset from command line options: models, suites, cases, budget.

A preset given with --preset is the base; other options override it.
"""

import argparse
import dataclasses
import json
from collections.abc import Iterable
from typing import Any

from console.cli.budget_arguments import BudgetArguments, add_budget_arguments, budget_of
from console.cli.name_lists import split
from console.config.paths import presets_files
from console.config.preset import Preset, load_presets, read_suite_words
from console.core.fault import UsageError
from console.core.ranges import LARGEST_COUNT


class PresetArguments(BudgetArguments):
    """Options that describe runs."""

    preset: str | None
    model: list[str]
    suite: list[str]
    category: list[str]
    limit: int | None
    ids: list[str]
    only_failed_of: str | None
    sample: int | None
    seed: int | None
    rollouts: int | None
    concurrency: int | None
    mode: str | None
    option: list[str]
    judge: list[str]
    user: str | None
    embedding: str | None
    vary: str | None
    name: str | None
    batch: bool
    queue: bool
    until: str | None
    by: str | None
    baseline: str | None
    margin: str | None


def add_preset_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe runs."""
    selection = parser.add_argument_group("what to run (one run for each model and suite)")
    selection.add_argument("--preset", metavar="NAME", help="start from a preset; other options override it")
    selection.add_argument(
        "-m", "--model", action="append", default=[], metavar="NAME", help="a model; may be repeated"
    )
    selection.add_argument("-s", "--suite", action="append", default=[], metavar="NAME[/CATEGORY]",
                      help="a suite (`eval-console suites`), or a category of it; may be repeated")  # fmt: skip
    selection.add_argument("--category", action="append", default=[], metavar="A,B", help="only these categories")
    selection.add_argument("-n", "--limit", type=int, metavar="N", help="only the first N cases of each suite")
    selection.add_argument("--ids", action="append", default=[], metavar="A,B|@FILE", help="only these cases")
    selection.add_argument("--only-failed-of", metavar="RUN", help="only the cases failed by this run")
    selection.add_argument("--sample", type=int, metavar="N", help="N random cases of each suite")
    selection.add_argument("--seed", type=int, metavar="S", help="seed for --sample (default 0)")
    selection.add_argument("-r", "--rollouts", type=int, metavar="N", help="play each case N times")
    how = parser.add_argument_group("how to run it")
    how.add_argument("-c", "--concurrency", type=int, metavar="N", help="conversations at once")
    how.add_argument("--mode", metavar="NAME",
                     help="a mode of the suite (see `suites NAME`; default: as in models.toml)")  # fmt: skip
    how.add_argument("--option", action="append", default=[], metavar="K=V",
                     help="a suite option, or suite/option; V is JSON or text")  # fmt: skip
    how.add_argument("--judge", action="append", default=[], metavar="NAME",
                     help="model for the role judge; a second one also grades, without affecting verdicts")  # fmt: skip
    how.add_argument("--user", metavar="NAME", help="model for the role user, a simulated user")
    how.add_argument("--embedding", metavar="NAME", help="model for the role embedding")
    how.add_argument("--vary", metavar="FIELD=A,B",
                     help="compare versions of a text, each in a file: prompt=a.txt,b.txt")  # fmt: skip
    how.add_argument("--name", metavar="TEXT", help="name of the run")
    how.add_argument("--batch", action="store_true",
                     help="ask through batch APIs: at half price, answered within a day")  # fmt: skip
    how.add_argument("--queue", action="store_true", help="play in the background, after the runs already queued")
    end = parser.add_argument_group("when to end it (the interim looks are fixed before the first call)")
    end.add_argument(
        "--until",
        metavar="RULE",
        help="decided (worse than --baseline or not), best (of the models), or 2pt (± 2 points)",
    )
    end.add_argument("--by", choices=("category",), help="with --until decided: decide each category separately")
    end.add_argument("--baseline", metavar="RUN", help="compare with this run")
    add_budget_arguments(parser)


def preset_of(args: PresetArguments) -> Preset:
    """Return the preset that the options describe."""
    base = load_presets(presets_files()).find(args.preset) if args.preset else Preset()
    _check_counts(args)
    drawn = args.sample if args.sample is not None else args.limit
    from_options: dict[str, Any] = {
        "models": tuple(dict.fromkeys(args.model)),
        "suites": _suites(args, base),
        "ids": tuple(args.ids),
        "only_failed_of": args.only_failed_of,
        "limit": drawn,
        "rollouts": args.rollouts,
        "concurrency": args.concurrency,
        "mode": args.mode,
        "batch": args.batch,
        "queue": args.queue,
        "until": args.until,
        "by": args.by,
        "name": args.name,
    }
    changed = {name: value for name, value in from_options.items() if value}
    if args.until or base.until:
        changed |= {name: value for name in ("baseline", "margin") if (value := getattr(args, name))}
    if drawn is not None:
        changed["seed"] = None if args.sample is None else args.seed or 0
    elif args.seed is not None:
        changed["seed"] = args.seed
    roles: dict[str, str] = dict(zip(("judge", "second_judge"), args.judge, strict=False))
    if args.user is not None:
        roles["user"] = args.user
    if args.embedding is not None:
        roles["embedding"] = args.embedding
    return dataclasses.replace(
        base,
        **changed,
        roles=base.roles | roles,
        options=base.options | read_options(args.option) | _variation(args.vary),
        budget=budget_of(args, base.budget),
    )


def _variation(text: str | None) -> dict[str, Any]:
    """Return the suite option specified by `--vary`."""
    if text is None:
        return {}
    field, equals, files = text.partition("=")
    if not equals or not split([files]):
        raise UsageError(f"does not name a field to vary: {text!r}", where="--vary", hint="Write prompt=a.txt,b.txt.")
    return {"vary": {field.strip(): list(split([files]))}}


def _suites(args: PresetArguments, base: Preset) -> dict[str, tuple[str, ...]]:
    suites = read_suite_words(args.suite) or base.suites
    named = split(args.category)
    if not named:
        return suites
    if len(suites) > 1:
        raise UsageError(
            "the category is ambiguous with several suites",
            where="--category",
            hint="Write the category with its suite: -s SUITE/CATEGORY.",
        )
    return {suite: tuple(dict.fromkeys([*parts, *named])) if args.suite else named for suite, parts in suites.items()}


def _check_counts(args: PresetArguments) -> None:
    counts = (("--limit", args.limit), ("--sample", args.sample), ("--concurrency", args.concurrency),
              ("--rollouts", args.rollouts))  # fmt: skip
    for flag, value in counts:
        if value is not None and not 1 <= value <= LARGEST_COUNT:
            raise UsageError("must be at least 1, and at most 2^53", where=flag)
    if len(args.judge) > 2:
        raise UsageError("at most two judges can be compared", where="--judge", hint="Give two.")
    if args.sample is not None and args.limit is not None:
        raise UsageError("--sample and --limit cannot be combined", hint="Give one of them.")
    if args.seed is not None and args.sample is None and not args.preset:
        raise UsageError("a seed needs a number of cases to draw", where="--seed", hint="Add --sample N.")


def read_options(texts: Iterable[str]) -> dict[str, Any]:
    """Return suite options written as `name=value`; values are JSON or text."""
    return dict(map(_option, texts))


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{text!r} is not of the form name=value", where="--option")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value
