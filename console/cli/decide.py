"""`branch --decide`: continuations from the steps of a failed conversation, by halving, until its chance falls at one.

Each point is a branch of its own. Those that are there already are not played again; the search goes on where it was.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from console.cli.budget_arguments import BudgetArguments, budget_of
from console.cli.exitcode import Exit
from console.cli.what_if import accept_cost
from console.core.fault import UsageError

if TYPE_CHECKING:
    from console.engine.plan import PreparedRun
    from console.exchange.run_reader import RunReader
    from console.insight.as_sent import Point
    from console.insight.deciding import Curve
    from console.insight.rollout import Rollout

USUAL_CONTINUATIONS = 8


class ContinuationArguments(BudgetArguments):
    """Options of continuations."""

    model: str
    repeats: int | None


def decide(
    args: ContinuationArguments, reader: "RunReader", rollout: "Rollout", points: "Sequence[Point]"
) -> "Curve | int":
    """Find the step that decided a failed conversation; return the curve, or the exit code if it was stopped.

    Raises:
        UsageError: a state cannot be rebuilt, or nothing can be graded.
    """
    from console.cli.foreground import play
    from console.engine.experiment import rehearse
    from console.exchange.tried import read_curve
    from console.insight.deciding import next_point
    from console.store.runs import create_run

    case, model = rollout.key.case, args.model or reader.manifest.model.name
    curve = read_curve(reader.folder, case, rollout.key.rollout, model)
    if next_point(curve, len(points)) is not None:
        _accept(args, reader, case, points)
    spent = 0.0
    while (replies := next_point(curve, len(points))) is not None:
        prepared = _prepared(args, reader, case, points[replies])
        if args.max_cost is not None:
            budget = msgspec.structs.replace(prepared.manifest.budget, cost_usd=max(args.max_cost - spent, 1e-9))
            prepared = dataclasses.replace(prepared, manifest=msgspec.structs.replace(prepared.manifest, budget=budget))
        for warning in rehearse(prepared):
            args.output.warn(warning)
        ending = play(create_run(prepared.runs_root, prepared.manifest), prepared, args.output)
        summary = ending.folder.summary()
        spent += summary.tally.cost_usd
        if ending.signal is not None:
            return 128 + ending.signal
        if summary.state == "budget":
            return int(Exit.BUDGET)
        if not summary.tally.graded:
            raise UsageError(
                f"no continuation from {points[replies].beginning.place} could be graded", where=ending.folder.name
            )
        curve = read_curve(reader.folder, case, rollout.key.rollout, model)
    return curve


def _accept(args: ContinuationArguments, reader: "RunReader", case: str, points: "Sequence[Point]") -> None:
    """Say what the search will take if it goes on from the earlier half each time, which is the dearer one."""
    from console.engine.experiment import Use, expected_use

    halves = [0, *(len(points) >> power for power in range(1, math.ceil(math.log2(max(len(points), 2))) + 1))]
    most = Use()
    for replies in dict.fromkeys(half for half in halves if half < len(points)):
        use = expected_use(_prepared(args, reader, case, points[replies]))
        most.calls += use.calls
        most.tokens += use.tokens
        is_priced = most.cost_usd is not None and use.cost_usd is not None
        most.cost_usd = (most.cost_usd or 0.0) + (use.cost_usd or 0.0) if is_priced else None
        most.is_free = use.is_free
    accept_cost(args, most, args.max_cost)


def _prepared(args: ContinuationArguments, reader: "RunReader", case: str, point: "Point") -> "PreparedRun":
    from console.engine.experiment import experiment_plan
    from console.engine.plan import prepare

    return prepare(
        experiment_plan(
            reader.folder,
            (case,),
            beginnings={case: point.beginning},
            model=args.model,
            repeats=args.repeats or USUAL_CONTINUATIONS,
            budget=budget_of(args),
            models_path=args.models,
            data_path=args.data,
        )
    )
