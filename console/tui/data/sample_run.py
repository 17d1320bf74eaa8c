"""Sample runs: three cases of each run, played as a trial before the full run; kept under `.try` in the runs folder.

They are ordinary runs with engines of their own, but are excluded from lists, trends and leaderboards, and old ones are
deleted when new ones start.
"""

import asyncio
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from console.core.run import Budget, Selection, Tally
from console.engine.forecast import Forecast
from console.engine.plan import Plan
from console.store.runs import RunFolder
from console.store.sample_runs import prune_sample_runs
from console.tui.data.runs import RunLine, RunWatch

CASES = 3
_FOLDER = ".try"
_CAP_USD = 5.0
"""Cost cap, in US dollars, of a sample run that has no cost budget."""
_LOOK_EVERY_S = 0.25


@dataclass(frozen=True, slots=True)
class SampleRun:
    """The current state of a sample run."""

    folder: RunFolder
    model: str
    suite: str
    planned: int = CASES
    tally: Tally = Tally()  # noqa: RUF009  never mutated
    is_over: bool = False
    problem: str = ""
    """Reason why it could not be played or graded. May contain untrusted text."""
    seconds: float = 0.0
    simulated: bool = False
    process: "subprocess.Popen[bytes] | None" = None
    """The engine's process."""


def sample_cost(forecast: Forecast) -> float:
    """Return the estimated cost of the sample runs in US dollars, counting only known prices."""
    return sum(run.cost_usd * min(CASES / max(run.cases, 1), 1.0) / run.rollouts for run in forecast.runs)


def start_sample_runs(plans: Sequence[Plan]) -> list[SampleRun]:
    """Start an engine on the first cases of each plan.

    Raises:
        UsageError: a plan is invalid, or an engine cannot be started.
    """
    sample_runs = [_start(plan) for plan in plans]
    for folder in {sample_run.folder.path.parent for sample_run in sample_runs}:
        prune_sample_runs(folder, time.time())
    return sample_runs


def _start(plan: Plan) -> SampleRun:
    from console.engine.launch import start
    from console.engine.plan import prepare
    from console.engine.process import spawn_engine

    prepared = prepare(plan)
    ids = tuple(case.id for case in prepared.cases if case.graded)[:CASES]
    budget = plan.budget
    capped = budget if budget.cost_usd is not None else Budget(_CAP_USD, budget.tokens, budget.seconds, budget.errors)
    run, _ = start(
        replace(
            plan,
            selection=Selection(plan.selection.categories, ids),
            rollouts=1,
            budget=capped,
            name=f"try {plan.model} {plan.suite}",
            paths=msgspec.structs.replace(plan.paths, runs=prepared.runs_root / _FOLDER),
        )
    )
    manifest = run.manifest()
    process = spawn_engine(run, paths=plan.paths)
    return SampleRun(run, plan.model, plan.suite, manifest.cases, simulated=manifest.simulated, process=process)


async def follow_sample_runs(sample_runs: Sequence[SampleRun], show: Callable[[list[SampleRun]], None]) -> None:
    """Follow sample runs until all are over, calling `show` whenever any of them changes."""
    watches, shown = [RunWatch(sample_run.folder) for sample_run in sample_runs], list(sample_runs)
    while not all(sample_run.is_over for sample_run in shown):
        await asyncio.sleep(_LOOK_EVERY_S)
        ended = [sample_run.process is None or sample_run.process.poll() is not None for sample_run in shown]
        lines = await asyncio.to_thread(lambda: [watch.look(time.time()) for watch in watches])
        latest = [_updated(*parts) for parts in zip(shown, lines, ended, strict=True)]
        if latest != shown:
            shown = latest
            show(shown)


def _updated(sample_run: SampleRun, line: RunLine, is_over: bool) -> SampleRun:
    """Return a sample run updated from its journal."""
    summary = line.summary
    if summary is None:
        return replace(sample_run, is_over=True, problem=line.mistake)
    problem = ""
    if is_over and not summary.tally.graded:
        problem = summary.message or ", ".join(summary.reasons) or f"it ended {summary.state}"
    return replace(
        sample_run,
        tally=msgspec.structs.replace(summary.tally),  # a copy, as the fold mutates its own
        is_over=is_over,
        problem=problem.split("\n", 1)[0],
        seconds=summary.seconds,
    )
