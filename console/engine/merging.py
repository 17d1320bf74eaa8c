"""Merging runs of one plan, such as its shards, into a new run that has every rollout once. The old runs are kept.

A rollout is copied whole from one run: the first one with an answer, else the first one where it ended, else the one
that got furthest. Records keep their times and are sorted by time, so that the new run's duration covers the times in
which any of the runs was played. Missing rollouts are played by `resume`. Notes on a rollout are copied with it;
disputes come from every run.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, cast

import msgspec

from console.config.paths import DataRoots
from console.core.case import Case, Key, Slot
from console.core.fault import UsageError
from console.core.grading import grading_differences, regrade_command
from console.core.record import AnyRecord, Asked, Closed, Embedded, Finished, Opened, Performed, Started
from console.core.run import Manifest
from console.core.tally import without_rerolls
from console.engine.outputs import has_answer
from console.engine.recorded_effects import read_whole
from console.store.journal import JournalReader, JournalWriter
from console.store.lock import RunLock
from console.store.notes import Note, Notes
from console.store.runs import RunFolder, create_run, new_run_id
from console.suites.catalog import Catalog
from console.suites.selection import select_cases

_OF_EACH_RUN = frozenset(
    {"id", "at", "shard", "cases", "setup", "concurrency", "budget", "name", "schema", "merged", "looks"}
)
"""Manifest fields in which runs of one plan may differ."""
_SHOWN = 60
"""Maximum number of characters in a value in a message."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged run and its origins."""

    folder: RunFolder
    rollouts: int
    """Number of rollouts in the whole plan."""
    missing: list[Slot]
    """Rollouts that did not end in any of the runs."""
    doubled: int
    """Number of rollouts present in more than one run."""
    damages: list[str]
    """Unreadable parts of the journals, each with run and line."""


@dataclass(slots=True)
class _Source:
    """One of the merged runs, with the progress of each rollout."""

    folder: RunFolder
    manifest: Manifest
    reached: dict[Slot, tuple[int, float]] = field(default_factory=dict[Slot, tuple[int, float]])
    """Quality (2: an answer, 1: an end without one, 0: unfinished) and rank on a tie, lower is better: time of the
    end, or the negated number of effects."""
    last_at: float = 0.0


def merge(folders: Sequence[RunFolder], data: DataRoots, runs_root: Path, name: str = "") -> Merged:
    """Create a run that combines others.

    Args:
        folders: runs of one plan; on a tie the first one wins.
        data: data folders with the suite, for its cases.
        runs_root: folder for the new run.
        name: name of the new run.

    Raises:
        UsageError: the runs are not of one plan, one is live, a run has a case outside the plan, or the data has
            changed; nothing is written then.
    """
    sources = [_Source(folder, folder.manifest()) for folder in folders]
    _check_same_plan(sources)
    cases = _planned_cases(sources[0], data)
    damages = [damage for source in sources for damage in _survey(source, {case.id for case in cases})]
    owners = _owners(sources)
    first, rollouts = sources[0].manifest, sources[0].manifest.rollouts
    planned = [(case.id, rollout) for rollout in range(rollouts) for case in cases]
    missing = [slot for slot in planned if slot not in owners or not owners[slot].reached[slot][0]]
    manifest = msgspec.structs.replace(
        first,
        id=new_run_id(first.suite, first.model.name, name=name),
        at=min(source.manifest.at for source in sources),
        cases=len(planned),
        setup=sum(not case.graded for case in cases) * rollouts,
        name=name,
        shard=None,
        merged=tuple(source.folder.name for source in sources),
        looks=None,
    )
    why = f"{len(missing)} of {len(planned)} rollouts have ended in none of the merged runs" if missing else ""
    end = Closed(max(source.last_at for source in sources), "stopped" if missing else "completed", why)
    run = create_run(runs_root, manifest)
    for source in sources:
        run.copy_files_of(source.folder)
    _write(run, _merged_records(sources, owners), end)
    Notes(run.path).add_all(_notes(sources, owners))
    doubled = sum(sum(slot in source.reached for source in sources) > 1 for slot in owners)
    return Merged(run, len(planned), missing, doubled, damages)


def _check_same_plan(sources: Sequence[_Source]) -> None:
    if len({source.folder.path.resolve() for source in sources}) < max(2, len(sources)):
        raise UsageError("a merge needs two or more different runs")
    for source in sources:
        if source.folder.is_live:
            raise UsageError(f"{source.folder.name} is still running", hint="Merge it after it has ended.")
    first = sources[0]
    for source in sources[1:]:
        manifests = first.manifest, source.manifest
        if differs := grading_differences(*manifests):
            raise UsageError(
                f"{first.folder.name} and {source.folder.name} were graded differently: {'; '.join(differs)}",
                hint=f"{regrade_command(*manifests)} grades them alike; merge the new runs.",
            )
        for place, here, there in _differences(_plan_of(first.manifest), _plan_of(source.manifest)):
            raise UsageError(
                f"{source.folder.name} and {first.folder.name} have different plans: {place} is {there}, not {here}",
                hint="Merge runs of the same models, suite, data, selection, options and program version.",
            )


def _plan_of(manifest: Manifest) -> dict[str, Any]:
    """Return the part of a manifest that all runs of a plan share; the address of the model is not part of it."""
    plan: dict[str, Any] = {
        name: value for name, value in msgspec.to_builtins(manifest).items() if name not in _OF_EACH_RUN
    }
    for model in (plan["model"], *plan.get("roles", {}).values()):
        model.pop("base_url", None)
    return plan


def _differences(here: Any, there: Any, place: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the fields in which two plans differ, with both values as text."""
    if isinstance(here, dict) and isinstance(there, dict):
        ours, theirs = cast("dict[str, Any]", here), cast("dict[str, Any]", there)
        for name in sorted(ours.keys() | theirs.keys()):
            yield from _differences(ours.get(name), theirs.get(name), f"{place}.{name}" if place else name)
    elif here != there:
        yield place, _shown(here), _shown(there)


def _shown(value: Any) -> str:
    text = "not set" if value is None else msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _planned_cases(source: _Source, data: DataRoots) -> list[Case]:
    manifest = source.manifest
    suite = Catalog(data).open(manifest.suite)
    cases = select_cases(suite, manifest.selection, manifest.setting)  # some suites know their digest only then
    dataset = {"name": suite.entry.name, **suite.entry.source}
    for place, here, there in _differences(manifest.dataset, dataset):
        raise UsageError(
            f"the data of {manifest.suite} has changed since the runs started: {place} is {there}, not {here}",
            hint="Give the old data with --data PATH.",
        )
    return cases


def _survey(source: _Source, case_ids: set[str]) -> list[str]:
    """Record the progress of each rollout of a run; return the journal's damage."""
    reader, effects = source.folder.reader(), dict[Slot, int]()
    for record in without_rerolls(read_whole(reader)):
        source.last_at = max(source.last_at, record.at)
        if isinstance(record, Started):
            if record.key.case not in case_ids:
                raise UsageError(
                    f"{source.folder.name} has a case that is not in the plan: {record.key.case}",
                    hint="It has another selection or other data.",
                )
            effects[record.key.slot] = 0
            source.reached[record.key.slot] = (0, 0.0)
        elif isinstance(record, Asked | Embedded | Performed):
            effects[record.key.slot] = effects.get(record.key.slot, 0) + 1
        elif isinstance(record, Finished) and record.key.slot in source.reached:
            source.reached[record.key.slot] = (2 if has_answer(record) else 1, record.at)
    for slot, (quality, _) in source.reached.items():
        if not quality:
            source.reached[slot] = (0, -float(effects[slot]))
    return source.folder.damages(reader)


def _owners(sources: Sequence[_Source]) -> dict[Slot, _Source]:
    """Return the run from which each rollout is taken."""
    owners: dict[Slot, _Source] = {}
    for source in sources:
        for slot, (quality, rank) in source.reached.items():
            best, best_rank = owners[slot].reached[slot] if slot in owners else (-1, inf)
            if (-quality, rank) < (-best, best_rank):
                owners[slot] = source
    return owners


def _merged_records(sources: Sequence[_Source], owners: dict[Slot, _Source]) -> Iterator[AnyRecord]:
    """Yield the records of the new run in order of time, each rollout from one run, each session once.

    Runs share sessions if one is a copy of the other that was continued elsewhere.
    """
    sessions: set[Opened] = set()
    for record in heapq.merge(*(_kept(source, owners) for source in sources), key=lambda record: record.at):
        if isinstance(record, Opened):
            if record in sessions:
                continue
            sessions.add(record)
        yield record


def _kept(source: _Source, owners: dict[Slot, _Source]) -> Iterator[AnyRecord]:
    for record in JournalReader(source.folder.journal_path).iter_all():
        key = getattr(record, "key", None)
        if isinstance(record, Closed) or (isinstance(key, Key) and owners.get(key.slot) is not source):
            continue
        yield record


def _notes(sources: Sequence[_Source], owners: dict[Slot, _Source]) -> list[Note]:
    """Return notes on the copied rollouts, and all disputes, in order of time."""
    notes = [
        note
        for source in sources
        for note in Notes(source.folder.path).all()
        if (owner := owners.get(note.key.slot)) is source or (owner is not None and note.kind == "dispute")
    ]
    return sorted(notes, key=lambda note: note.at)


def _write(run: RunFolder, records: Iterator[AnyRecord], end: Closed) -> None:
    with RunLock(run.lock_path):
        journal = JournalWriter(run.journal_path)
        try:
            for record in records:
                journal.append(record)
            journal.append(end)
        finally:
            journal.close()
