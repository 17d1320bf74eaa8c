"""Import of logs: each evaluation becomes a run. Interrupted imports resume; data that our records lack is reported.

Logs are read sample by sample, so their size does not affect memory. Duplicate samples are kept under other names.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec

from console.core.json_text import decode_as
from console.core.record import Closed, Finished, Opened, Started
from console.core.run import Summary
from console.exchange.imports.log import Log, LogHead, LogSample, Problem, table
from console.exchange.imports.records import SampleRecords, manifest_of, started_at, suite_name
from console.exchange.imports.totals import ScoreValues
from console.exchange.imports.verdict import decisive_name, is_partial, named_numbers
from console.store.runs import KEPT_LOG, RunFolder, new_run_id
from console.store.staged_run import StagedRun

_KEPT_PROBLEMS = 200
_TOLERANCE = 1e-9
Progress = Callable[[int, int | None], None]
"""Called with the number of samples done and planned (None if unknown)."""


class CheckedTotal(msgspec.Struct, frozen=True):
    """A total reported by the tool, next to our own."""

    score: str
    metric: str
    reported: float
    ours: float | None
    """None if it cannot be computed here."""

    @property
    def agrees(self) -> bool | None:
        """True if both are equal; None if ours was not computed."""
        if self.ours is None:
            return None
        return abs(self.ours - self.reported) <= _TOLERANCE * max(1.0, abs(self.reported))


class ImportReport(msgspec.Struct, frozen=True):
    """Result of importing one evaluation."""

    file: str
    run: str
    tool: str
    version: str
    suite: str
    model: str
    simulated: bool
    samples: int
    """Number of rollouts in the run."""
    outcomes: dict[str, int]
    """Rollouts by outcome."""
    missing: int
    """Number of rollouts that the log announces but does not contain."""
    unplaced: dict[str, int]
    """Data without a field in our records: number of samples by name; Review shows it under Raw."""
    problems: list[Problem]
    totals: list[CheckedTotal]
    partial: dict[str, int] = {}
    """Rollouts that failed because their score is between 0 and 1: their number by score."""


def outcome_counts(summary: Summary) -> dict[str, int]:
    """Return the number of a run's rollouts by outcome, as text."""
    tally = summary.tally
    counts = {"passed": tally.passed, "failed": tally.failed, "broken": tally.broken, "undecided": tally.undecided}
    return {word: number for word, number in counts.items() if number}


class _State(msgspec.Struct):
    """Progress of an import, stored with its journal."""

    samples: int = 0
    unplaced: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    problems: list[Problem] = msgspec.field(default_factory=list[Problem])
    decisive: str = ""
    is_graded_by_number: bool = False
    """True if the decisive score has values other than pass and fail."""
    repeats: int = 1
    partial: dict[str, int] = msgspec.field(default_factory=dict[str, int])


def import_log(
    log: Log,
    path: Path,
    runs_root: Path,
    number: int = 0,
    progress: Progress = lambda done, planned: None,
    keep: Callable[[Path, IO[bytes]], None] | None = None,
) -> tuple[RunFolder, ImportReport]:
    """Import one evaluation and return the run and a report.

    Args:
        log: the opened log.
        path: its file, by which an interrupted import is found again.
        number: index of the evaluation in the file.
        runs_root: folder of runs.
        progress: called after each sample.
        keep: writes the copy of the log that the run keeps; None to keep none.

    Raises:
        UsageError: the log became unreadable, or the runs folder cannot be written; finished work is kept.
    """
    name = stage_name(log.head, path, number)
    staged = StagedRun(runs_root, name)
    try:
        values = ScoreValues([recipe for metrics in log.head.recipes.values() for recipe in metrics.values()])
        state = _import_samples(log, staged, progress, values)
        if keep is not None and stage_name(log.head, path, number) == name:
            staged.add_file(KEPT_LOG, partial(keep, path))
        folder, report = _publish(log, path, staged, state, values)
    except BaseException:
        staged.close()
        raise
    return folder, report


def stage_name(head: LogHead, path: Path, number: int) -> str:
    """Return a name for the import of an evaluation that is stable until the file changes."""
    status = path.stat()
    identity = (str(path.resolve()), status.st_size, status.st_mtime_ns, head.task, head.model, number)
    return hashlib.sha256(repr(identity).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _import_samples(log: Log, staged: StagedRun, progress: Progress, values: ScoreValues) -> _State:
    state, taken = _resume_staged(staged, values)
    records = SampleRecords(log.head)
    if not state.samples:
        staged.append([Opened(at=started_at(log.head), pid=0)])
    named, doubled = 0, dict[tuple[str, int], int]()
    for sample in islice(log.samples(), state.samples, None):
        case_id = _free_id(sample, taken, doubled, state)
        taken.add((case_id, sample.epoch))
        _count(sample, log.head, state)
        values.add(case_id, named_numbers(sample.scores), table(sample.data.get("metadata")))
        _note(log.problems[named:], state)
        named = len(log.problems)
        staged.append(records.records(sample, case_id), lambda: state)
        progress(state.samples, log.head.samples)
    _note(log.problems[named:], state)
    return state


def _note(problems: list[Problem], state: _State) -> None:
    """Add new problems to the state, up to a limit."""
    for problem in problems:
        if len(state.problems) < _KEPT_PROBLEMS and problem not in state.problems:
            state.problems.append(problem)


def _resume_staged(staged: StagedRun, values: ScoreValues) -> tuple[_State, set[tuple[str, int]]]:
    """Return the progress of an earlier import of the same log, and its tries; their scores are added to `values`."""
    try:
        state = decode_as(staged.state, _State)
    except ValueError:
        return _State(), set()
    taken: set[tuple[str, int]] = set()
    metadata: dict[str, Any] = {}
    for record in staged.reader().iter_all():
        if isinstance(record, Started):
            metadata = table(record.case.data.get("metadata"))
        elif isinstance(record, Finished):
            taken.add(record.key.slot)
            values.add(record.key.case, record.verdict.scores, metadata)
    return state, taken


def _free_id(sample: LogSample, taken: set[tuple[str, int]], doubled: dict[tuple[str, int], int], state: _State) -> str:
    """Return the id of a sample; duplicates of an id and epoch get a new name.

    Args:
        sample: the sample.
        taken: (id, epoch) pairs in use.
        doubled: number of duplicates by id and epoch, kept to avoid recounting.
        state: records the duplicate.
    """
    name = sample.id or f"sample {state.samples + 1}"
    number = doubled.get((name, sample.epoch), 1)
    free = name if number == 1 else f"{name}~{number}"
    while (free, sample.epoch) in taken:
        number += 1
        free = f"{name}~{number}"
    if number > 1:
        doubled[name, sample.epoch] = number
        _note([Problem(name, f"occurs {number} times; this one is renamed {free}")], state)
    return free


def _count(sample: LogSample, head: LogHead, state: _State) -> None:
    state.samples += 1
    state.repeats = max(state.repeats, sample.epoch + 1)
    for name in sample.rest:
        state.unplaced[name] = state.unplaced.get(name, 0) + 1
    decisive = decisive_name(sample, head.decisive)
    if decisive:
        state.decisive = state.decisive or decisive
        number = named_numbers(sample.scores)[decisive]
        state.is_graded_by_number |= number not in (0.0, 1.0)
        if is_partial(sample, number):
            state.partial[decisive] = state.partial.get(decisive, 0) + 1


def _publish(
    log: Log, path: Path, staged: StagedRun, state: _State, values: ScoreValues
) -> tuple[RunFolder, ImportReport]:
    head = log.head
    staged.append([Closed(at=started_at(head), reason=head.ended, message=head.message)])
    headline = state.decisive if state.is_graded_by_number else ""
    manifest = manifest_of(
        head,
        new_run_id(suite_name(head), head.model, "imported"),
        file=path.name,
        headline=headline,
        rollouts=max(state.samples, head.samples or 0),
        repeats=state.repeats,
    )
    extras = {
        **manifest.setting.extras,
        "unplaced": state.unplaced,
        "problems": [f"{item.where}: {item.why}" for item in state.problems],
    }
    manifest = msgspec.structs.replace(manifest, setting=msgspec.structs.replace(manifest.setting, extras=extras))
    folder = staged.publish(manifest)
    summary = folder.summary()
    report = ImportReport(
        file=path.name,
        run=folder.name,
        tool=head.tool,
        version=head.version,
        suite=manifest.suite,
        model=head.model,
        simulated=manifest.simulated,
        samples=state.samples,
        outcomes=outcome_counts(summary),
        missing=max(0, (head.samples or 0) - state.samples),
        partial=state.partial,
        unplaced=state.unplaced,
        problems=state.problems,
        totals=list(_totals(head, summary.scores, values)),
    )
    return folder, report


def _totals(head: LogHead, scores: dict[str, float], values: ScoreValues) -> Iterator[CheckedTotal]:
    """Yield the tool's totals next to ours; if the tool's totals cannot be recomputed, yield only the means."""
    for score, metrics in head.reported.items():
        recipes = head.recipes.get(score, {})
        for metric, value in metrics.items():
            if (recipe := recipes.get(metric)) is not None:
                yield CheckedTotal(score, metric, value, values.total(recipe))
            elif metric in ("accuracy", "mean"):
                yield CheckedTotal(score, metric, value, scores.get(score))


def partial_words(report: ImportReport) -> list[str]:
    """Describe which rollouts count as failed although their score is above 0."""
    return [
        f"{number} {'rollout has' if number == 1 else 'rollouts have'} a {score} between 0 and 1: counted as failed"
        for score, number in report.partial.items()
    ]


def total_sign(total: CheckedTotal) -> str:
    """Return how the tool's total compares with ours, as shown next to them."""
    return {True: "=", False: "≠", None: "not computed"}[total.agrees]


def report_object(report: ImportReport) -> dict[str, Any]:
    """Return a report as JSON values."""
    whole: dict[str, Any] = msgspec.to_builtins(report)
    for total, checked in zip(whole["totals"], report.totals, strict=True):
        total["agrees"] = checked.agrees
    return whole
