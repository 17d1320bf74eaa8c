"""Try a change on the failures of a run and on a guard, and estimate its effect on the whole suite.

The cases of the filter (without one, all failures) are played again with the change, and so is a guard drawn at random
from all others, passed and failed. The recorded run is the control, at no cost; --control also plays an unchanged arm.
Several texts (--set system=a.txt,b.txt) are compared with the same control, with Holm's correction.

  eval-console try latest --filter reason:unit --set tool.get_weather.description=new.txt
  eval-console try latest --set system=prompt.txt -n 30 --guard 40
  eval-console try latest --set system=prompt.txt --until decided    stop when it is decided
  eval-console try RUN --report --keep careful                       then: eval-console run --preset careful

Recorded runs are not changed. `resume` continues an experiment; `try --report RUN` shows it again.
"""

import argparse
from typing import TYPE_CHECKING

from console.cli.budget_arguments import BudgetArguments, add_budget_arguments, budget_of
from console.cli.exitcode import Exit
from console.cli.what_if import CHANGES_HELP, accept_cost, read_settings, show_changes
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind

if TYPE_CHECKING:
    from console.core.experiment import Arm
    from console.core.looks import Until
    from console.store.runs import RunFolder

TRIED = JsonKind(
    "tried",
    "try",
    "Result of trying a change; one for each change.",
    {
        "run": "the experiment",
        "parent": "the recorded run",
        "changes": "each with `what` and its `diff`, as lines",
        "effect": "on the whole suite: value, low, high, p, and p after Holm's correction; null if unknown",
        "why_not": "reason for an unknown effect; empty otherwise",
        "chosen": "cases, those that pass now, and those expected to pass by chance; null if unknown",
        "guard": "the same for the guard",
        "cases": "ids of fixed, lost and unchanged cases",
        "control": "true if an unchanged arm was played too",
        "calls": "number of calls made",
        "full_calls": "number of calls of the whole suite",
        "sentence": "summary in a sentence",
    },
    is_stream=True,
)


class TryArguments(BudgetArguments):
    which: str
    filter: str
    set: list[str]
    model: str
    most: int | None
    guard: int | None
    repeats: int
    control: bool
    until: str
    from_: str
    keep: str
    seed: int | None
    report: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", help="name, part of a name, or latest")
    parser.add_argument(
        "--filter", metavar="TERMS", default="", help="cases to improve, such as 'reason:unit' (default: all failures)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="WHAT=FILE", help=CHANGES_HELP)
    parser.add_argument("-m", "--model", metavar="NAME", default="", help="try another model of models.toml")
    parser.add_argument("-n", "--most", type=int, metavar="N", help="draw at most N of these cases")
    parser.add_argument(
        "--guard", type=int, metavar="N", help="cases drawn from all others (default: the same number, at least 20)"
    )
    parser.add_argument("-r", "--repeats", type=int, metavar="R", default=1, help="rollouts of each case")
    parser.add_argument("--control", action="store_true", help="also play the same cases unchanged, interleaved")
    parser.add_argument("--until", choices=("", "decided"), default="", metavar="decided",
                        help="stop at the first planned look that shows the change to be better or worse")  # fmt: skip
    parser.add_argument("--from", dest="from_", choices=("start", "failure"), default="start",
                        help="failure: repeat all before the failed turn; also plays an unchanged arm")  # fmt: skip
    parser.add_argument("--keep", default="", metavar="NAME", help="write the change as a preset: run --preset NAME")
    parser.add_argument("--seed", type=int, metavar="S", help="seed of the draw, and of simulated models")
    parser.add_argument("--report", action="store_true", help="show the report of an experiment that was played")
    add_budget_arguments(parser)


def run(args: TryArguments) -> int:
    """Play the experiment and show its report; the exit code is 3 if the result is inconclusive."""
    folder = args.find_run(args.which)
    if args.report:
        return show_tried(args, folder)
    from console.cli.foreground import play
    from console.cli.listed_failures import chosen_cases
    from console.engine.experiment import experiment_plan, new_seed, rehearse
    from console.engine.experiment_use import expected_use
    from console.engine.plan import prepare
    from console.exchange.tried import checked_arms, draw_strata, failing_points
    from console.store.runs import create_run

    arms, chosen = _arms(args), chosen_cases(folder, args.filter or "is:failed")
    arms, notes = checked_arms(folder, arms, chosen)
    seed = new_seed() if args.seed is None else args.seed
    strata, luck = draw_strata(folder, chosen, most=args.most, guard=args.guard, seed=seed)
    from_failure = args.from_ == "failure"
    if args.control or from_failure:  # with another beginning, the recording is no fair control
        arms.insert(0, ())
    cases = [case for stratum in strata for case in stratum.cases]
    beginnings = failing_points(folder, cases, args.data) if from_failure else {}
    if from_failure:
        args.output.info(
            f"{len(beginnings)} of {len(cases)} cases continue from the turn that failed, the rest from the start"
        )
    plan = experiment_plan(
        folder,
        cases,
        arms=tuple(arms),
        beginnings=beginnings,
        strata=strata,
        luck=luck,
        until=_until(args, folder, arms),
        label=args.filter,
        name=f"try {args.filter}".strip(),
        model=args.model,
        repeats=args.repeats,
        seed=seed,
        budget=budget_of(args),
        paths=args.workspace,
    )
    prepared = prepare(plan)
    for warning in [*notes, *prepared.warnings, *rehearse(prepared)]:
        args.output.warn(warning)
    for arm in arms if not args.json else ():
        show_changes(args.output, arm)
    drawn = [f"{len(stratum.cases)} of {stratum.size} {stratum.name}" for stratum in strata if stratum.size]
    args.output.info(f"drawn: {', '.join(drawn)}")
    accept_cost(args, f"about {(use := expected_use(prepared)).words}", use, args.max_cost)
    ending = play(create_run(prepared.runs_root, prepared.manifest), prepared, args.output)
    code = show_tried(args, ending.folder)
    return 128 + ending.signal if ending.signal is not None else code


def _arms(args: TryArguments) -> "list[Arm]":
    """Return one arm for each combination of texts; several lists of texts are combined in parallel."""
    from console.core.experiment import shared_change

    settings = [(what, values) for what, values in read_settings(args.set)]
    if not settings and not args.model:
        raise UsageError("no change was given", where="--set", hint="Write --set system=FILE, or -m NAME.")
    if (args.control or args.from_ == "failure") and not settings:
        raise UsageError(
            "the unchanged arm would also be played by the other model",
            where="--control" if args.control else "--from failure",
        )
    counts = {len(values) for _, values in settings if len(values) > 1}
    if len(counts) > 1:
        raise UsageError(
            "the changes have different numbers of texts",
            where="--set",
            hint="Give every change the same number of texts, or one.",
        )
    arms = max(counts, default=1)
    return [
        tuple(shared_change(what, values[number % len(values)]) for what, values in settings) for number in range(arms)
    ]


def _until(args: TryArguments, folder: "RunFolder", arms: "list[Arm]") -> "Until | None":
    """Return the rule that ends the experiment, if requested."""
    one_only = [flag for flag, given in (("--until decided", args.until), ("--keep", args.keep)) if given]
    if one_only and sum(map(bool, arms)) > 1:
        raise UsageError("is limited to one change", where=one_only[0], hint="Try one text, or omit it.")
    if not args.until:
        return None
    from console.core.looks import Rule, Until

    return Until(Rule.DECIDED, baseline=folder.name)


def _keep(args: TryArguments, folder: "RunFolder") -> None:
    """Write the change of a trial as a preset, if requested."""
    if not args.keep:
        return
    from console.config.paths import presets_files
    from console.config.preset import load_presets
    from console.exchange.tried import changed_preset
    from console.store.preset_file import save_preset

    paths = presets_files()
    path = load_presets(paths).files.get(args.keep, paths[-1])
    save_preset(path, args.keep, changed_preset(folder))
    args.output.info(f"saved in {path}; to play the whole suite with it: eval-console run --preset {args.keep}")


def show_tried(args: TryArguments, folder: "RunFolder") -> int:
    """Show the report of an experiment."""
    from console.cli.sections import show_section
    from console.exchange.tried import read_tried
    from console.insight.experiment import sections_of, tried_fields

    tried = read_tried(folder)
    if tried is None:
        raise UsageError("is not a trial of a change", where=folder.name, hint="Start one: `eval-console try RUN`.")
    _keep(args, folder)
    if args.json:
        for fields in tried_fields(tried):
            args.output.data(TRIED, fields)
    else:
        for section in sections_of(tried):
            args.output.text()
            show_section(args.output, section)
        args.output.info(f"review: eval-console review {folder.name}")
    return Exit.OK if any(result.effect is not None for result in tried.arms) else Exit.INCONCLUSIVE
