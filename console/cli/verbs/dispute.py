"""Dispute the ground truth of a case, with the reason; or list a run's disputes with author, time and reason.

A dispute is stored next to the run and included in its exports. It changes no outcome and no score.
"""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.cli.verbs.tag import add_rollout, find_rollout, show_annotation
from console.core.fault import UsageError
from console.exchange.document import annotation_fields
from console.exchange.json_kind import JsonKind
from console.store.journal_line import scrub
from console.store.notes import Note, Notes

DISPUTES = JsonKind(
    "disputes",
    "dispute RUN",
    "Cases of a run with disputed ground truth.",
    {"run": "its name", "disputed": "case, rollout, reason, author and time"},
)


class DisputeArguments(Arguments):
    which: str
    reason: str | None
    withdraw: bool
    rollout: int


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which",
        metavar="RUN[#CASE]",
        nargs="?",
        default="latest",
        help="a case to dispute, or a run to list its disputes",
    )
    parser.add_argument("reason", metavar="REASON", nargs="?", help="why the ground truth is wrong")
    parser.add_argument("--withdraw", action="store_true", help="withdraw the dispute")
    add_rollout(parser)


def run(args: DisputeArguments) -> int:
    """Record the dispute, or list disputes."""
    if "#" not in args.which:
        if args.reason is not None or args.withdraw:
            raise UsageError("a case is required", where=args.which, hint="Write RUN#CASE before the reason.")
        return _list(args)
    reader, rollout = find_rollout(args, args.which, args.rollout)
    if args.reason is not None or args.withdraw:
        reason = "" if args.withdraw else scrub((args.reason or "").strip())
        if not reason and not args.withdraw:
            raise UsageError("a dispute needs a reason", hint="Give a reason, or --withdraw.")
        Notes(reader.folder.path).add(Note(rollout.key, "dispute", reason))
    show_annotation(args, reader, rollout)
    return Exit.OK


def _list(args: DisputeArguments) -> int:
    folder = args.find_run(args.which)
    disputed = [
        (slot, annotation) for slot, annotation in Notes(folder.path).annotations().items() if annotation.dispute
    ]
    if args.json:
        rows = [
            {"case": case, "rollout": number + 1} | dict(annotation_fields(annotation))
            for (case, number), annotation in disputed
        ]
        args.output.data(DISPUTES, {"run": folder.name, "disputed": rows})
    elif disputed:
        rows = [
            (case, annotation_fields(annotation)["disputed_by"], annotation.dispute)
            for (case, _), annotation in disputed
        ]
        args.output.rows(("case", "disputed by", "why"), rows)
    else:
        args.output.info(f"nothing is disputed in {folder.name}")
    return Exit.OK
