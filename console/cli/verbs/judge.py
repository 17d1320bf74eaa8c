"""Let a judge decide which of two runs answered better, case by case and in both orders.

Several runs are compared in pairs. The answers are read from the runs, so their models are not called. The comparison
is a run of its own, which can be resumed. The result is the win rate of the first run; for several runs, also the
Bradley–Terry strength of each.
"""

import argparse

from console.cli.budget_arguments import BudgetArguments, add_budget_arguments, budget_of
from console.core.run import Selection


class JudgeArguments(BudgetArguments):
    which: list[str]
    judge: str
    rubric: str
    length_control: bool
    limit: int | None
    seed: int | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="+", help="at least two runs of one suite: name, part of a name, "
                        "or latest; the first one against the others")  # fmt: skip
    parser.add_argument(
        "--judge", metavar="NAME", default="", help="model that judges (default: the judge of the runs)"
    )
    parser.add_argument("--rubric", metavar="TEXT", default="", help="criteria for choosing the better answer")
    parser.add_argument("--length-control", action="store_true",
                        help="also report the result adjusted for answer length")  # fmt: skip
    parser.add_argument("-n", "--limit", type=int, metavar="N", help="only N pairs")
    parser.add_argument("--seed", type=int, metavar="S", help="with -n: draw the pairs at random")
    add_budget_arguments(parser)


def run(args: JudgeArguments) -> int:
    """Judge the answers and report; the exit code is 3 if some pair could not be judged."""
    from console.cli.foreground import play
    from console.cli.run_report import report_played
    from console.engine.pairwise import prepare_pairwise
    from console.store.runs import create_run

    prepared = prepare_pairwise(
        [args.find_run(name) for name in args.which],
        judge=args.judge,
        rubric=args.rubric,
        length_control=args.length_control,
        selection=Selection(limit=args.limit, seed=args.seed),
        budget=budget_of(args),
        paths=args.workspace,
    )
    for warning in prepared.warnings:
        args.output.warn(warning)
    ending = play(create_run(prepared.runs_root, prepared.manifest), prepared, args.output)
    return report_played(args.output, prepared, ending)
