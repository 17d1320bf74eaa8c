"""Statistics from earlier runs of a suite, for forecasting a new run."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from console.core.case import Slot
from console.core.fault import UsageError
from console.core.run import SIMULATED, Summary
from console.core.statistics.intervals import Interval
from console.core.statistics.power import Detectable
from console.core.statistics.repeats import variance_split
from console.store.journal_file import journal_status
from console.store.run_list import list_runs
from console.store.runs import RunFolder

_MOST_RUNS = 60
"""Maximum number of newest runs considered."""
_MOST_BYTES = 32_000_000
"""Longer journals are skipped."""
_RUNS_FOR_USE = 5
_ENOUGH_CASES = 20
"""Minimum number of graded cases that two runs must share."""


def detectable(root: Path, suite: str, cases: int, rollouts: int) -> Detectable:
    """Return the detectable difference for a number of cases and rollouts, based on earlier runs of the suite.

    Two runs give the share of cases with different outcomes; a run with repeats gives the part due to sampling.
    """
    runs = completed_runs(root, suite)
    is_simulated = bool(runs) and all(summary.simulated_note == SIMULATED for _, summary in runs)
    discordance = _discordance([run for run, _ in runs])
    within = next(
        (
            split.within
            for _, summary in runs
            if (split := variance_split(summary.tally.cases)) is not None and split.cases >= _ENOUGH_CASES
        ),
        None,
    )
    if discordance is None and within is None:
        return Detectable(cases, rollouts)
    if discordance is None or not discordance:
        # with the same model twice, the draws of a case differ by sampling alone
        if not within:
            return Detectable(cases, rollouts)
        return Detectable(cases, rollouts, 2 * within, 1.0, is_measured=True, is_simulated=is_simulated)
    if within is None:
        return Detectable(cases, rollouts, discordance, is_measured=True, is_simulated=is_simulated)
    share = min(1.0, 2 * within / discordance)
    return Detectable(cases, rollouts, discordance, share, is_measured=True, is_simulated=is_simulated)


@dataclass(frozen=True, slots=True)
class EarlierUse:
    """Average use of one rollout in earlier runs, over all roles."""

    is_simulated: bool
    """True if these runs used a simulated model; such runs count only if there are no others."""

    runs: int
    """Number of earlier runs in the average."""
    newest: str
    """Name of the newest of these runs."""
    rollouts: int
    """Number of graded rollouts in these runs."""
    calls: float
    input_tokens: float
    output_tokens: float


def earlier_use(root: Path, suite: str) -> EarlierUse | None:
    """Return the average use of a rollout in the newest completed runs of a suite; None if there are no such runs.

    Runs of simulated models count only if there are no others.
    """
    completed = completed_runs(root, suite)
    real = [(run, summary) for run, summary in completed if summary.simulated_note != SIMULATED]
    averaged = (real or completed)[:_RUNS_FOR_USE]
    tallies = [summary.tally for _, summary in averaged]
    rollouts = sum(tally.graded for tally in tallies)
    if not rollouts:
        return None
    return EarlierUse(
        not real,
        len(tallies),
        averaged[0][0].name,
        rollouts,
        sum(tally.calls for tally in tallies) / rollouts,
        sum(tally.input_tokens for tally in tallies) / rollouts,
        sum(tally.output_tokens for tally in tallies) / rollouts,
    )


def earlier_rate(root: Path, suite: str) -> Interval | None:
    """Return the pass rate of the newest completed run of a suite; None if there is none."""
    return next((summary.tally.rate for _, summary in completed_runs(root, suite)), None)


def completed_runs(root: Path, suite: str) -> list[tuple[RunFolder, Summary]]:
    """Return the newest completed runs of a suite with their summaries, newest first."""
    listed: list[tuple[RunFolder, Summary]] = []
    for run in list_runs(root)[:_MOST_RUNS]:
        try:
            summary = run.summary()
        except (UsageError, OSError):
            continue
        if summary.regraded:  # its calls are those of judges, and its answers those of another run
            continue
        if summary.suite == suite and summary.state == "completed" and summary.tally.graded:
            listed.append((run, summary))
    return listed


def _discordance(runs: list[RunFolder]) -> float | None:
    """Return the share of cases with different outcomes in the newest two runs that share enough cases."""
    graded: list[dict[Slot, bool]] = []
    for run in runs[:4]:
        older = _passed(run)
        for newer in graded:
            shared = newer.keys() & older.keys()
            if len(shared) >= _ENOUGH_CASES:
                return sum(newer[slot] != older[slot] for slot in shared) / len(shared)
        graded.append(older)
    return None


def _passed(run: RunFolder) -> dict[Slot, bool]:
    try:
        size = journal_status(run.journal_path).size
        return _read(run.path, size) if size <= _MOST_BYTES else {}
    except (UsageError, OSError):
        return {}


@lru_cache(maxsize=16)
def _read(path: Path, size: int) -> dict[Slot, bool]:
    """Fold a journal, cached until the journal grows."""
    del size
    fold, _ = RunFolder(path).fold()
    return {
        slot: record.verdict.outcome.value == "passed"
        for slot, record in fold.latest.items()
        if record.verdict.outcome.is_graded and slot[0] not in fold.ungraded
    }
