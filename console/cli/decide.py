"""`branch --decide`: continuations from the steps of a failed conversation, until its chance falls at one.

Each point is a separate branch. A point continued often enough is not played again, so a search can resume.
"""

import dataclasses
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
    """Find the deciding step of a failed conversation; return the curve, or the exit code if it was stopped."""
    from console.cli.foreground import play
    from console.engine.experiment import rehearse
    from console.engine.experiment_use import search_use
    from console.exchange.tried import branches_of
    from console.insight.deciding import continued, curve_of, next_point, searches_left
    from console.store.runs import create_run

    case, model = rollout.key.case, args.model or reader.manifest.model.name

    def read_curve() -> "Curve":
        return curve_of(branches_of(reader.folder).get(case, ()), case, rollout.key.rollout, model)

    curve, times = read_curve(), args.repeats or USUAL_CONTINUATIONS
    if next_point(continued(curve, times), len(points)) is not None:
        beginnings = [point.beginning for point in points]
        left = searches_left(continued(curve, times), len(points))
        use = search_use(_prepared(args, reader, case, points[0]), beginnings, left)
        accept_cost(args, "; ".join(use.lines), use.most, args.max_cost)
    spent = 0.0
    while (replies := next_point(continued(curve, times), len(points))) is not None:
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
        curve = read_curve()
        times = min(times, curve[replies].graded)  # broken continuations are not asked for again
    return curve


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
            paths=args.workspace,
        )
    )
