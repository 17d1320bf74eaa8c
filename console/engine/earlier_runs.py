"""What earlier runs of a suite tell of how two runs differ, for what a new one can show."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from console.core.case import Slot
from console.core.fault import UsageError
from console.core.run import Summary
from console.core.statistics.power import Detectable
from console.core.statistics.repeats import variance_split
from console.store.run_list import list_runs
from console.store.runs import RunFolder

_MOST_RUNS = 60
"""So many of the newest runs are looked at."""
_MOST_BYTES = 32_000_000
"""Longer journals are not read for this."""
_RUNS_FOR_USE = 5
_ENOUGH_CASES = 20
"""Two runs must share so many graded cases."""


def detectable(root: Path, suite: str, cases: int, rollouts: int) -> Detectable:
    """Return what so many cases and rollouts can show, by how earlier runs of the suite differed.

    Two runs tell how many cases end differently; a run with repeats tells how much of that is sampling alone.
    """
    runs = _completed(root, suite)
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
        # the same model twice: two draws of each case differ by sampling alone
        return Detectable(cases, rollouts, 2 * within, 1.0, is_measured=True) if within else Detectable(cases, rollouts)
    if within is None:
        return Detectable(cases, rollouts, discordance, is_measured=True)
    return Detectable(cases, rollouts, discordance, min(1.0, 2 * within / discordance), is_measured=True)


@dataclass(frozen=True, slots=True)
class EarlierUse:
    """What a rollout of a suite took on average, all roles together."""

    runs: int
    """How many earlier runs this rests on."""
    calls: float
    input_tokens: float
    output_tokens: float


def earlier_use(root: Path, suite: str) -> EarlierUse | None:
    """Return what rollouts of a suite took in its newest completed runs; None when there is no such run."""
    tallies = [summary.tally for _, summary in _completed(root, suite)[:_RUNS_FOR_USE]]
    rollouts = sum(tally.graded for tally in tallies)
    if not rollouts:
        return None
    return EarlierUse(
        len(tallies),
        sum(tally.calls for tally in tallies) / rollouts,
        sum(tally.input_tokens for tally in tallies) / rollouts,
        sum(tally.output_tokens for tally in tallies) / rollouts,
    )


def _completed(root: Path, suite: str) -> list[tuple[RunFolder, Summary]]:
    listed: list[tuple[RunFolder, Summary]] = []
    for run in list_runs(root)[:_MOST_RUNS]:
        try:
            summary = run.summary()
        except (UsageError, OSError):
            continue
        if summary.suite == suite and summary.state == "completed" and summary.tally.graded:
            listed.append((run, summary))
    return listed


def _discordance(runs: list[RunFolder]) -> float | None:
    """Return the share of cases that the newest two runs with enough in common ended differently."""
    graded = [passed for run in runs[:4] if (passed := _passed(run))]
    for number, newer in enumerate(graded):
        for older in graded[number + 1 :]:
            shared = newer.keys() & older.keys()
            if len(shared) >= _ENOUGH_CASES:
                return sum(newer[slot] != older[slot] for slot in shared) / len(shared)
    return None


def _passed(run: RunFolder) -> dict[Slot, bool]:
    try:
        size = run.journal_path.stat().st_size
        return _read(run.path, size) if size <= _MOST_BYTES else {}
    except (UsageError, OSError):
        return {}


@lru_cache(maxsize=16)
def _read(path: Path, size: int) -> dict[Slot, bool]:
    """Read a journal once for as long as it does not grow."""
    del size
    fold, _ = RunFolder(path).fold()
    return {
        slot: record.verdict.outcome.value == "passed"
        for slot, record in fold.latest.items()
        if record.verdict.outcome.is_graded and slot[0] not in fold.ungraded
    }
