"""Tag a failure with its cause, comment on it, or mark it as reviewed; stored next to the results."""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.core.annotation import NO_ANNOTATION
from console.core.fault import UsageError
from console.core.names import find_name
from console.core.suggestion import suggest
from console.exchange.document import annotation_fields
from console.exchange.json_kind import JsonKind
from console.exchange.run_reader import RunReader
from console.insight.rollout import Rollout
from console.store.journal_line import scrub
from console.store.notes import TAGS, Note, Notes
from console.store.run_list import split_case

ANNOTATION = JsonKind(
    "annotation",
    "tag, dispute RUN#CASE",
    "Reader notes on one rollout.",
    {
        "run": "its name",
        "case": "its id",
        "rollout": "from 1",
        "tag": "optional: cause of a failure",
        "comment": "optional",
        "dispute": "optional: reason why the ground truth is wrong",
        "disputed_by": "optional",
        "label": "optional: a model's opinion on the cause of a failure",
        "label_why": "optional: its sentence",
        "labelled_by": "optional: the model",
        "reviewed": "optional",
    },
)

NONE = "none"


class TagArguments(Arguments):
    which: str
    tag: str | None
    comment: str | None
    reviewed: bool | None
    rollout: int


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN#CASE", help="a case of a run; `latest#CASE` for the newest run")
    parser.add_argument("tag", metavar="TAG", nargs="?", help=f"{', '.join(TAGS)}, or {NONE} to remove the tag")
    parser.add_argument("--comment", metavar="TEXT", help="a comment; an empty string removes it")
    parser.add_argument("--reviewed", action=argparse.BooleanOptionalAction, help="mark it as reviewed")
    add_rollout(parser)


def add_rollout(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects one rollout of a case."""
    parser.add_argument("--rollout", type=int, default=1, metavar="N", help="rollout of the case (default: 1)")


def run(args: TagArguments) -> int:
    """Write the notes and show the current ones."""
    reader, rollout = find_rollout(args, args.which, args.rollout)
    notes = Notes(reader.folder.path)
    reviewed = None if args.reviewed is None else "yes" if args.reviewed else ""
    for kind, value in (("tag", _tag(args.tag)), ("comment", args.comment), ("reviewed", reviewed)):
        if value is not None:
            notes.add(Note(rollout.key, kind, scrub(value.strip())))
    show_annotation(args, reader, rollout)
    return Exit.OK


def find_rollout(args: Arguments, which: str, number: int) -> tuple[RunReader, Rollout]:
    """Find the rollout that RUN#CASE names."""
    name, case = split_case(which)
    if not case:
        raise UsageError("a case is required", where=which, hint="Write RUN#CASE, such as latest#live_simple_3-0-0.")
    reader = RunReader(args.find_run(name))
    return reader, _rollout(reader, case, number)


def show_annotation(args: Arguments, reader: RunReader, rollout: Rollout) -> None:
    """Show the notes on a rollout."""
    annotation = reader.annotations().get(rollout.slot, NO_ANNOTATION)
    standing = dict(annotation_fields(annotation)) | ({"reviewed": "yes"} if annotation.reviewed else {})
    if args.json:
        head = {"run": reader.folder.name, "case": rollout.key.case, "rollout": rollout.key.rollout + 1}
        args.output.data(ANNOTATION, head | standing)
        return
    for kind, text in standing.items():
        args.output.text(f"{rollout.key}  {kind.replace('_', ' ')}: {text}")
    if not standing:
        args.output.info(f"no notes on {rollout.key.case}")


def _tag(text: str | None) -> str | None:
    if text is None or text in TAGS:
        return text
    if text == NONE:
        return ""
    tags = (*TAGS, NONE)
    raise UsageError(f"there is no tag {text!r}", hint=suggest(text, tags, f"One of: {', '.join(tags)}."))


def _rollout(reader: RunReader, case: str, number: int) -> Rollout:
    cases = list(dict.fromkeys(name for name, _ in reader.side.rollouts))
    known = find_name(case, cases)
    rollout = reader.side.rollouts.get((known or case, number - 1))
    if rollout is not None:
        return rollout
    if known is not None:
        raise UsageError(f"{case} has no rollout {number}", where="--rollout")
    raise UsageError(f"the run has no case {case!r}", where=reader.folder.name, hint=suggest(case, cases))
