"""Retry what machinery broke, as new attempts. An undecided rollout with an answer asks only its judge again.

A grade is never replaced. To play the failed cases again, start a run of its own, which leaves this score untouched:

  eval-console run --only-failed-of RUN
"""

import argparse

from console.cli.budget_arguments import add_budget_arguments
from console.cli.name_lists import split
from console.cli.resuming import ResumingArguments, resume_run
from console.cli.target_arguments import add_target_arguments
from console.core.fault import UsageError
from console.core.names import find_name
from console.core.suggestion import suggest
from console.engine.plan import reopen
from console.engine.queue import RetryScope


class RetryArguments(ResumingArguments):
    which: str
    status: str
    ids: list[str]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="?", default="latest", help="name, part of a name, or latest")
    parser.add_argument("--status", metavar="STATUS", default="broken", help=argparse.SUPPRESS)  # `failed` existed once
    parser.add_argument("--ids", action="append", default=[], metavar="A,B", help="only these cases")
    add_target_arguments(parser)
    add_budget_arguments(parser)


def run(args: RetryArguments) -> int:
    """Play further attempts."""
    folder = args.find_run(args.which)
    if args.status != "broken":
        hint = f"`eval-console run --only-failed-of {folder.name}` plays failed cases again, as a run of their own."
        words = "what is broken or undecided is retried without it, and a grade is never replaced"
        raise UsageError(words, where=f"--status {args.status}", hint=hint)
    only = frozenset(split(args.ids))
    if only:
        case_ids = [case.id for case in reopen(folder, args.workspace).cases]
        only = frozenset(find_name(case, case_ids) or case for case in only)
        for case in only - set(case_ids):
            raise UsageError(f"the run has no case {case!r}", where="--ids", hint=suggest(case, case_ids))
    return resume_run(folder, args, retry=RetryScope.BROKEN, only=only)
