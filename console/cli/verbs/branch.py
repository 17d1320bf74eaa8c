"""Continue a recorded conversation from any step, with one change, as a run of its own.

Everything before the step is taken from the journal: it costs nothing, and its requests are those originally sent. Only
the rest is played live. Without --at the case is played again from the start. `show RUN#CASE` gives the steps.

  eval-console branch latest#CASE --at 2.1 -r 8          how often does it pass from here?
  eval-console branch latest#CASE --at 2.1 --show reply  the reply as it was, to edit
  eval-console branch latest#CASE --at 2.1 --reply edited.txt
  eval-console branch latest#CASE --at 2.1 --set system=prompt.txt
  eval-console branch latest#CASE --decide               which step decided it?

The new run is linked to the old one and never enters a score; `eval-console compare` shows both side by side.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.budget_arguments import add_budget_arguments, budget_of
from console.cli.decide import ContinuationArguments, decide
from console.cli.exitcode import Exit
from console.cli.parser import read_input
from console.cli.verbs.tag import add_rollout, find_rollout
from console.cli.what_if import CHANGES_HELP, accept_cost, change_fields, read_settings, show_changes
from console.core.experiment import OPENING, REPLY, RESULT
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.exchange.json_kind import JsonKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.core.experiment import Arm, Beginning
    from console.exchange.run_reader import RunReader
    from console.insight.as_sent import Point
    from console.insight.conversation import Conversation
    from console.insight.deciding import Curve
    from console.insight.rollout import Rollout

AS_SENT = JsonKind(
    "as_sent",
    "branch --show",
    "The request or reply at a step, as text for editing.",
    {"what": "kind of text, such as `system`", "at": "turn and step, from 1", "text": "in the format of --set"},
)
DECIDING_STEP = JsonKind(
    "deciding_step",
    "branch --decide",
    "The step that decided a failed conversation.",
    {
        "run": "the recorded run",
        "case": "the case",
        "curve": "for each point: at, passed, graded, and the branch",
        "step": "turn and step that decided it, from 1; null if none was found",
        "sentence": "summary in a sentence",
    },
)
BRANCH = JsonKind(
    "branch",
    "branch",
    "A conversation that was continued.",
    {
        "run": "the new run",
        "folder": "its path",
        "parent": "the old run",
        "case": "the case",
        "at": "turn and step from which it was live, from 1; null from the start",
        "changes": "each with `what` and its `diff`, as lines",
        "was": "outcome in the old run",
        "passed": "number of continuations that passed",
        "graded": "number of those that passed or failed",
        "low": "95 % interval of the chance to pass",
        "high": "the same",
        "calls": "number of calls made",
        "cost_usd": "their cost; null if a price is unknown",
    },
)


class BranchArguments(ContinuationArguments):
    which: str
    at: str
    reply: Path | None
    result: Path | None
    set: list[str]
    from_: str
    show: str
    decide: bool
    rollout: int


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN#CASE", help="a case of a run; `latest#CASE` for the newest run")
    parser.add_argument("--at", metavar="TURN.STEP", default="", help="the model's reply from which to continue live")
    parser.add_argument("-m", "--model", metavar="NAME", default="", help="continue with another model of models.toml")
    parser.add_argument("--reply", type=Path, metavar="FILE", help="text that replaces the reply at this step")
    parser.add_argument("--result", type=Path, metavar="FILE", help="text that replaces the results of its tool calls")
    parser.add_argument("--set", action="append", default=[], metavar="WHAT=FILE", help=CHANGES_HELP)
    parser.add_argument("--from", dest="from_", choices=("step", "start"), default="step",
                        help="make changes from this step on, or replay it all with them")  # fmt: skip
    parser.add_argument("-r", "--repeats", type=int, metavar="K", help="number of continuations (default: 1)")
    parser.add_argument("--show", metavar="WHAT", default="",
                        help="print reply, result or anything --set can change, as sent; makes no calls")  # fmt: skip
    parser.add_argument("--decide", action="store_true",
                        help="find the step that decided a failed case; 8 or K continuations per point")  # fmt: skip
    add_rollout(parser)
    add_budget_arguments(parser)


def run(args: BranchArguments) -> int:
    """Play the branch and show the result."""
    from console.insight.as_sent import beginning_of, point_at, points_of

    if args.repeats is not None and args.repeats < 1:
        raise UsageError(f"must be at least 1, not {args.repeats}", where="--repeats")
    reader, rollout = find_rollout(args, args.which, args.rollout)
    conversation = reader.conversation(rollout.key)
    points = points_of(conversation)
    if not points:
        raise UsageError("this case has no finished call, so there is nothing to continue from", where=args.which)
    if args.decide:
        _check_decidable(args, rollout)
        curve = decide(args, reader, rollout, points)
        return curve if isinstance(curve, int) else _show_decided(args, reader, rollout.key.case, points, curve)
    point = point_at(conversation, args.at) if args.at else points[0]
    if args.show:
        return _show(args, conversation, point)
    arm = _changes(args, conversation, point)
    beginning = beginning_of(points, point, arm) if args.at and args.from_ == "step" else None
    return _play(args, reader, rollout, beginning, arm)


def _show(args: BranchArguments, conversation: "Conversation", point: "Point") -> int:
    from console.insight.as_sent import text_of

    text = text_of(conversation, point, args.show)
    if args.json:
        args.output.data(AS_SENT, {"what": args.show, "at": point.beginning.place, "text": text})
    else:
        args.output.file(text if text.endswith("\n") else f"{text}\n")
    return Exit.OK


def _changes(args: BranchArguments, conversation: "Conversation", point: "Point") -> "Arm":
    from console.insight.as_sent import change_of

    files = [(what, path) for what, path in ((REPLY, args.reply), (RESULT, args.result)) if path is not None]
    edited = [(what, read_input(path)) for what, path in files]
    if edited and (not args.at or args.from_ == "start"):
        raise UsageError("applies to one step", where=f"--{edited[0][0]}", hint="Name it with --at TURN.STEP.")
    for what, values in read_settings(args.set):
        if len(values) > 1:
            raise UsageError("a branch has one text for each change", where=f"--set {what}", hint="Use `try` for more.")
        edited.append((what, values[0]))
    edited.sort(key=lambda change: change[0] != OPENING)
    return tuple(change_of(conversation, point, what, text) for what, text in edited)


def _play(
    args: BranchArguments, reader: "RunReader", rollout: "Rollout", beginning: "Beginning | None", arm: "Arm"
) -> int:
    from console.cli.foreground import play
    from console.core.statistics.intervals import wilson
    from console.engine.experiment import experiment_plan, rehearse
    from console.engine.experiment_use import branch_use
    from console.engine.plan import prepare
    from console.store.runs import create_run

    case, output = rollout.key.case, args.output
    plan = experiment_plan(
        reader.folder,
        (case,),
        arms=(arm,),
        beginnings={case: beginning} if beginning is not None else None,
        model=args.model,
        repeats=args.repeats or 1,
        budget=budget_of(args),
        paths=args.workspace,
    )
    prepared = prepare(plan)
    for warning in [*prepared.warnings, *rehearse(prepared)]:
        output.warn(warning)
    use = branch_use(prepared)
    accept_cost(args, "; ".join(use.lines), use.most, args.max_cost)
    ending = play(create_run(prepared.runs_root, prepared.manifest), prepared, output)
    folder, tally = ending.folder, ending.folder.summary().tally
    low, high = wilson(tally.passed, tally.graded)
    at = beginning.place if beginning is not None else None
    was = rollout.outcome.value if rollout.outcome else "interrupted"
    if args.json:
        cost = None if tally.cost_unknown else tally.cost_usd
        fields = {"run": folder.name, "folder": str(folder.path), "parent": reader.folder.name, "case": case, "at": at,
                  "changes": change_fields(arm), "was": was, "passed": tally.passed, "graded": tally.graded,
                  "low": low, "high": high, "calls": tally.calls, "cost_usd": cost}  # fmt: skip
        output.data(BRANCH, fields)
    else:
        from console.insight.experiment import chance_words

        show_changes(output, arm)
        where = f"from {at}" if at else "from the start"
        output.text(f"{where}: {chance_words(tally.passed, tally.graded)}; originally {was}", "strong")
        if tally.broken or tally.undecided:
            output.warn(f"{tally.broken + tally.undecided} broken: eval-console failures {folder.name}")
        output.info(f"compare: eval-console compare {reader.folder.name} {folder.name}")
    if ending.signal is not None:
        return 128 + ending.signal
    return Exit.OK if tally.graded == (args.repeats or 1) else Exit.INCONCLUSIVE


def _check_decidable(args: BranchArguments, rollout: "Rollout") -> None:
    if args.at or args.set or args.reply or args.result:
        hint = "Omit --at and changes."
        raise UsageError("goes through all steps without changing anything", where="--decide", hint=hint)
    if rollout.outcome is not Outcome.FAILED:
        raise UsageError("only a failure can be decided by a step", where=str(rollout.key))


def _show_decided(
    args: BranchArguments, reader: "RunReader", case: str, points: "Sequence[Point]", curve: "Curve"
) -> int:
    from console.cli.sections import show_section
    from console.insight.deciding import curve_section, decided_words, fall_of

    fall = fall_of(curve, len(points))
    if args.json:
        listed = [
            {"at": points[place].beginning.place, "passed": chance.passed, "graded": chance.graded, "run": chance.run}
            for place, chance in sorted(curve.items())
        ]
        step = points[fall.replies].beginning.place if fall is not None else None
        fields = {"run": reader.folder.name, "case": case, "curve": listed, "step": step}
        args.output.data(DECIDING_STEP, fields | {"sentence": decided_words(points, curve)})
    else:
        show_section(args.output, curve_section(points, curve))
    return Exit.OK if fall is not None or len(points) == 1 else Exit.INCONCLUSIVE
