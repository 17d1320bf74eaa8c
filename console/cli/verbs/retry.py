"""Retry broken and undecided rollouts as new attempts; the old ones are kept.

`--status failed` also retries wrong answers. That is a re-roll: it makes scores luckier, and the run records it.
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
    parser.add_argument(
        "--status", choices=("broken", "failed"), default="broken", help="what to retry (default: broken)"
    )
    parser.add_argument("--ids", action="append", default=[], metavar="A,B", help="only these cases")
    add_target_arguments(parser)
    add_budget_arguments(parser)


def run(args: RetryArguments) -> int:
    """Play further attempts."""
    folder = args.find_run(args.which)
    only = frozenset(split(args.ids))
    if only:
        case_ids = [case.id for case in reopen(folder, args.workspace).cases]
        only = frozenset(find_name(case, case_ids) or case for case in only)
        for case in only - set(case_ids):
            raise UsageError(f"the run has no case {case!r}", where="--ids", hint=suggest(case, case_ids))
    return resume_run(folder, args, retry=RetryScope(args.status), only=only)
