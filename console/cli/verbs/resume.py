"""Continue a run that was interrupted, stopped or hit a cap; finished calls are never repeated."""

import argparse

from console.cli.budget_arguments import add_budget_arguments
from console.cli.resuming import ResumingArguments, resume_run
from console.cli.target_arguments import add_target_arguments
from console.engine.queue import RetryScope
from console.store.run_list import run_to_resume


class ResumeArguments(ResumingArguments):
    which: str
    fail_under: str | None
    to_the_end: bool
    resubmit: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which",
        metavar="RUN",
        nargs="?",
        default="latest",
        help="name, part of a name, or latest: the newest run that ended early, branches and trials included",
    )
    parser.add_argument("--fail-under", metavar="X", help="exit 1 if the headline score is below X (0.8 or 80%%)")
    parser.add_argument("--to-the-end", action="store_true", help="play the whole run, even if its looks would end it")
    parser.add_argument(
        "--resubmit",
        action="store_true",
        help="send the calls of batches again that the provider no longer has; they cost as much again",
    )
    add_target_arguments(parser)
    add_budget_arguments(parser)


def run(args: ResumeArguments) -> int:
    """Play the remaining rollouts, including broken and undecided ones."""
    is_open = args.which == "latest" and not args.to_the_end
    folder = (run_to_resume(args.runs_root) if is_open else None) or args.find_run(args.which)
    return resume_run(
        folder,
        args,
        retry=RetryScope.BROKEN,
        fail_under=args.fail_under,
        to_the_end=args.to_the_end,
        resubmits=args.resubmit,
    )
