"""Three cases of each run, asked for real before the whole is started; shown in place, kept under `.try` of the runs.

Trials are runs like any other, played by engines of their own, but they stay out of lists, trends and leaderboards, and
old ones go when new ones start.
"""

import asyncio
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from console.core.run import Budget, Selection, Tally
from console.engine.forecast import Forecast
from console.engine.plan import Plan
from console.store.runs import RunFolder
from console.store.trials import prune_trials
from console.tui.data.catalog_items import RunLine, RunWatch

CASES = 3
_FOLDER = ".try"
_CAP_USD = 5.0
"""Where a trial stops that nothing else stops."""
_LOOK_EVERY_S = 0.25


@dataclass(frozen=True, slots=True)
class SampleRun:
    """One run that is tried, as far as it has come."""

    folder: RunFolder
    model: str
    suite: str
    planned: int = CASES
    tally: Tally = Tally()  # noqa: RUF009  never changed
    is_over: bool = False
    problem: str = ""
    """Why it could not be played, or what broke. Foreign text."""
    seconds: float = 0.0
    simulated: bool = False
    process: "subprocess.Popen[bytes] | None" = None
    """Its engine."""


def trial_cost(forecast: Forecast) -> float:
    """Return about how many US dollars trying will cost, as far as prices are known."""
    return sum(run.cost_usd * min(CASES / max(run.cases, 1), 1.0) / run.rollouts for run in forecast.runs)


def start_trials(plans: Sequence[Plan]) -> list[SampleRun]:
    """Start an engine on the first cases of each plan.

    Raises:
        UsageError: a plan does not hold, or an engine cannot be started.
    """
    trials = [_start(plan) for plan in plans]
    for folder in {trial.folder.path.parent for trial in trials}:
        prune_trials(folder, time.time())
    return trials


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
            runs_path=prepared.runs_root / _FOLDER,
        )
    )
    manifest = run.manifest()
    process = spawn_engine(run, models_path=plan.models_path, data_path=plan.data_path)
    return SampleRun(run, plan.model, plan.suite, manifest.cases, simulated=manifest.simulated, process=process)


async def watch(trials: Sequence[SampleRun], tell: Callable[[list[SampleRun]], None]) -> None:
    """Follow trials until all are over, telling what they have come to whenever that changed."""
    watches, known = [RunWatch(trial.folder) for trial in trials], list(trials)
    while not all(trial.is_over for trial in known):
        await asyncio.sleep(_LOOK_EVERY_S)
        ended = [trial.process is None or trial.process.poll() is not None for trial in known]
        lines = await asyncio.to_thread(lambda: [watch.look(time.time()) for watch in watches])
        news = [_judged(trial, line, is_over) for trial, line, is_over in zip(known, lines, ended, strict=True)]
        if news != known:
            known = news
            tell(known)


def _judged(trial: SampleRun, line: RunLine, is_over: bool) -> SampleRun:
    """Return a trial as its run stands now."""
    summary = line.summary
    if summary is None:
        return replace(trial, is_over=True, problem=line.mistake)
    problem = ""
    if is_over and not summary.tally.graded:
        problem = summary.message or ", ".join(summary.reasons) or f"it ended {summary.state}"
    return replace(trial, tally=_copied(summary.tally), is_over=is_over, problem=problem.split("\n", 1)[0],
                   seconds=summary.seconds)  # fmt: skip


def _copied(tally: Tally) -> Tally:
    """Return a copy: the fold goes on counting in its own."""
    import msgspec

    return msgspec.structs.replace(tally)
