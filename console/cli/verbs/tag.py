"""Say of a case whose fault its failure is, comment on it, or dispute its ground truth; kept beside the results."""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_runs_root
from console.core.fault import UsageError
from console.core.nearest import nearest
from console.exchange.reading import RunReader
from console.insight.rollout import Rollout
from console.store.line import scrub
from console.store.notes import TAGS, Note, Notes
from console.store.runs import find_run

NONE = "none"


class TagArguments(Arguments):
    """Options of `tag`."""

    which: str
    tag: str | None
    comment: str | None
    dispute: str | None
    rollout: int


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("which", metavar="RUN#CASE", help="a case of a run; `latest#CASE` of the newest one")
    parser.add_argument("tag", metavar="TAG", nargs="?", help=f"{', '.join(TAGS)}, or {NONE} to take it back")
    parser.add_argument("--comment", metavar="TEXT", help="an empty text takes it back")
    parser.add_argument("--dispute", metavar="TEXT", help="why the ground truth is wrong; empty takes it back")
    parser.add_argument("--rollout", type=int, default=1, metavar="N", help="which rollout of the case (default: 1)")


def run(args: TagArguments) -> int:
    """Write the notes and show what stands.

    Raises:
        UsageError: no such run or case, an unknown tag, or a folder that cannot be written.
    """
    name, _, case = args.which.partition("#")
    if not case:
        raise UsageError("names no case", where=args.which, cure="Write RUN#CASE, such as latest#live_simple_3-0-0.")
    reader = RunReader(find_run(find_runs_root(args.runs), name or "latest"))
    rollout = _rollout(reader, case, args.rollout)
    notes = Notes(reader.folder.path)
    for kind, value in (("tag", _tag(args.tag)), ("comment", args.comment), ("dispute", args.dispute)):
        if value is not None:
            notes.add(Note(rollout.key, kind, scrub(value.strip())))
    standing = dict(reader.remarks().get(rollout.slot, {}))
    if args.json:
        args.output.data({"schema": 1, "run": reader.folder.name, "case": case, "rollout": args.rollout} | standing)
    else:
        for kind, text in standing.items():
            args.output.text(f"{rollout.key}  {kind}: {text}")
        if not standing:
            args.output.say(f"nothing is noted on {case}")
    return Exit.OK


def _tag(text: str | None) -> str | None:
    if text is None or text in TAGS:
        return text
    if text == NONE:
        return ""
    close = nearest(text, (*TAGS, NONE))
    raise UsageError(
        f"no tag is called {text!r}", cure=f"Did you mean {close}?" if close else f"One of: {', '.join((*TAGS, NONE))}."
    )


def _rollout(reader: RunReader, case: str, number: int) -> Rollout:
    found = reader.side.rollouts.get((case, number - 1))
    if found is not None:
        return found
    cases = list(dict.fromkeys(name for name, _ in reader.side.rollouts))
    if case in cases:
        raise UsageError(f"{case} has no rollout {number}", where="--rollout")
    close = nearest(case, cases)
    raise UsageError(
        f"the run has no case {case!r}", where=reader.folder.name, cure=f"Did you mean {close}?" if close else ""
    )
