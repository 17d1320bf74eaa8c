"""Races: runs of several models over the same cases in the same order, until one is shown to be the best.

Each run plays by itself and records its own looks. The result of a look of the race is computed from the journals of
all its runs, each read up to the record of that look, so every run gets the same result at any time; killed runs
resume, and no coordinator is needed. A run waits for the others before it plays more than one look ahead.
"""

import dataclasses
import math
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from console.config.paths import WorkspacePaths
from console.core.case import Case, Slot
from console.core.fault import UsageError
from console.core.looks import BEST, Contender, Look, Rule
from console.core.record import Finished, Looked
from console.core.run import Manifest
from console.core.statistics.decision import LEFT_OUT_SHARE, Decision
from console.core.statistics.sample import Observation, sample_of
from console.core.statistics.sequential import race
from console.engine.compute_target import LOCAL, ComputeTarget
from console.engine.looks import boundary_of, headline_value
from console.engine.plan import PreparedRun
from console.engine.process import spawn_engine
from console.store.journal import JournalReader
from console.store.runs import STARTING_S, RunFolder
from console.suites.planned_order import PlannedSlots

POLL_S = 0.2
"""Seconds between readings of the other runs' journals."""
RunningEngine = tuple[RunFolder, "subprocess.Popen[bytes]"]
"""A run with the process that plays it."""
ENDED = ("completed", "decided")
"""States of a run that has finished its race."""


def line_up(runs: Sequence[PreparedRun]) -> list[PreparedRun]:
    """Add to each prepared run the names of all runs in its race, if it is in one.

    Raises: UsageError: the models of a race would not play the same cases.
    """
    names: dict[str, tuple[str, ...]] = {}
    for run in runs:
        names[run.manifest.suite] = (*names.get(run.manifest.suite, ()), run.manifest.id)
    digests: dict[str, str] = {}
    lined_up: list[PreparedRun] = []
    for run in runs:
        plan, suite = run.manifest.looks, run.manifest.suite
        if plan is None or plan.until is None or plan.until.rule is not Rule.BEST:
            lined_up.append(run)
            continue
        if digests.setdefault(suite, plan.digest) != plan.digest:
            hint = "Choose models and a mode with which the suite has the same cases."
            raise UsageError(f"{run.manifest.model.name} would play other cases", where="--until best", hint=hint)
        until = msgspec.structs.replace(plan.until, rivals=names[suite])
        looks = msgspec.structs.replace(plan, until=until)
        manifest = msgspec.structs.replace(run.manifest, looks=looks)
        lined_up.append(dataclasses.replace(run, manifest=manifest))
    return lined_up


def racing_runs(run: RunFolder) -> list[RunFolder]:
    """Return the runs of the race that a run is in, itself among them; empty if it is in none.

    Raises:
        UsageError: its manifest cannot be read.
    """
    plan = run.manifest().looks
    if plan is None or plan.until is None:
        return []
    return [RunFolder(run.path.parent / name) for name in plan.until.rivals]


def continue_race(run: RunFolder, paths: WorkspacePaths, target: ComputeTarget = LOCAL) -> list[RunningEngine]:
    """Start engines for the runs of a race that have neither ended nor are being played, and return them.

    Raises:
        UsageError: a run is gone, or an engine cannot be started.
    """
    left = [one for one in racing_runs(run) if not one.is_live and one.summary().state not in ENDED]
    return [(one, spawn_engine(one, retry="broken", paths=paths, target=target)) for one in left]


def race_of(folder: RunFolder, prepared: PreparedRun) -> "Race | None":
    """Return the race that a run is in, or None if it is in none."""
    plan = prepared.manifest.looks
    if plan is None or plan.until is None or not plan.until.rivals:
        return None
    return Race(folder, prepared.manifest, prepared.cases)


class Race:
    """The looks of a race as one of its runs sees them."""

    poll_s = POLL_S

    def __init__(self, folder: RunFolder, manifest: Manifest, cases: Iterable[Case]) -> None:
        """Prepare to follow the other runs.

        Args:
            folder: the run's folder, next to those of the others.
            manifest: the run's manifest.
            cases: its cases in planned order.
        """
        plan = manifest.looks
        assert plan is not None
        assert plan.until is not None
        self._plan, self._question = plan, plan.questions[0]
        self._model = manifest.model.name
        self._case = {case.id: case for case in cases}
        self._slots = slots = PlannedSlots(self._case.values(), manifest.rollouts, by_case=True)
        self._lanes = {
            model: _Lane(
                folder if model == self._model else RunFolder(folder.path.parent / name),
                slots,
                self._question.at,
                manifest.headline,
            )
            for model, name in zip(plan.until.models, plan.until.rivals, strict=True)
        }
        self._out: dict[str, Contender] = {}
        """Models that have dropped out, in order."""
        self._judged = 0
        self.is_over = False
        self._waited_since = 0.0

    def may_start(self, slot: Slot) -> bool:
        """Return whether a rollout is at most one look ahead of the race."""
        at = self._question.at
        return (self._slots.place(slot) or 0) < at[min(self._judged + 1, len(at) - 1)]

    def new_looks(self, taken: Sequence[Look]) -> list[Look]:
        """Read the new records of the others, and return the looks that are now complete, as recorded by this run.

        Args: taken: looks at this run so far.
        """
        for lane in self._lanes.values():
            lane.read()
        own = {look.number: look for look in taken}
        looks: list[Look] = []
        while not self.is_over and not self._missing(self._judged + 1):
            self._judged += 1
            self._waited_since = 0.0
            standings, decision = self._standings(self._judged)
            mine = next(one for one in standings if one.model == self._model)
            self.is_over = bool(decision)
            look = own[self._judged]
            if not look.standings:
                looks.append(
                    msgspec.structs.replace(
                        look,
                        difference=mine.difference,
                        below=mine.below,
                        above=mine.above,
                        decision=decision,
                        standings=standings,
                    )
                )
        return looks

    @property
    def behind(self) -> str:
        """Models that have not reached the next look."""
        return ", ".join(self._missing(self._judged + 1))

    def gone(self) -> str:
        """Return the name of a run that is not playing and has kept this one waiting for a while; empty if none."""
        missing = {model: self._lanes[model].folder for model in self._missing(self._judged + 1)}
        if all(folder.is_live for model, folder in missing.items() if model != self._model):
            self._waited_since = 0.0
            return ""
        self._waited_since = self._waited_since or time.monotonic()
        if time.monotonic() - self._waited_since < STARTING_S:
            return ""
        names = [f"{model} ({folder.name})" for model, folder in missing.items() if not folder.is_live]
        return f"{', '.join(names)} does not play, so nothing can be decided"

    def _missing(self, number: int) -> list[str]:
        """Return the models that are still playing and have not reached a look."""
        if number > len(self._question.at):
            return []
        return [model for model, lane in self._lanes.items() if model not in self._out and number not in lane.seen]

    def _standings(self, number: int) -> tuple[tuple[Contender, ...], str]:
        """Return all models at a look, best first, and its decision about this run."""
        planned = self._question.at[number - 1]
        values: dict[str, list[Observation]] = {}
        unsafe: set[str] = set()
        for model, lane in self._lanes.items():
            if model not in self._out:
                values[model] = self._observations(lane.seen.pop(number))
                if planned - len(values[model]) > LEFT_OUT_SHARE * planned:
                    unsafe.add(model)
        leader, compared = race(values, boundary_of(self._plan, self._question), number)
        standing: list[Contender] = []
        for model, listed in values.items():
            one = Contender(model, sample_of(listed).mean if listed else None)
            if model != leader and math.isfinite(compared[model].low):
                is_out = compared[model].is_out and not unsafe & {model, leader}
                one = msgspec.structs.replace(
                    one,
                    difference=compared[model].difference,
                    below=compared[model].low,
                    above=compared[model].high,
                    out_at=number if is_out else 0,
                )
            standing.append(one)
        standing.sort(key=lambda one: (bool(one.out_at), one.model != leader, -(one.value or 0.0), one.model))
        earlier = tuple(self._out[model] for model in reversed(self._out))
        self._out |= {one.model: one for one in reversed(standing) if one.out_at}
        playing = [one for one in standing if not one.out_at]
        decision = ""
        if self._model in self._out:
            decision = Decision.WORSE.value
        elif len(playing) == 1:
            decision = BEST
        elif number == len(self._question.at):
            decision = Decision.CANNOT_TELL.value
        return (*standing, *earlier), decision

    def _observations(self, values: Mapping[Slot, float]) -> list[Observation]:
        return [
            Observation(case_id, value, self._case[case_id].category, self._case[case_id].cluster)
            for (case_id, _), value in values.items()
        ]


class _Lane:
    """One run of a race, as read from its journal."""

    def __init__(self, folder: RunFolder, slots: Sequence[Slot], at: Sequence[int], headline: str) -> None:
        self.folder = folder
        self._slots, self._at, self._headline = slots, at, headline
        self._reader = JournalReader(folder.journal_path)
        self._values: dict[Slot, float | None] = {}
        self.seen: dict[int, dict[Slot, float]] = {}
        """Values of the graded rollouts of each look that the run has reached and the race has not decided."""

    def read(self) -> None:
        """Read new records."""
        while records := self._reader.read_new():
            for record in records:
                if isinstance(record, Finished):
                    verdict, slot = record.verdict, record.key.slot
                    if verdict.outcome.is_graded and slot not in self._values:  # the first grade counts
                        self._values[slot] = headline_value(verdict, self._headline)
                elif isinstance(record, Looked) and not record.look.standings:
                    first = self._slots[: self._at[record.look.number - 1]]
                    values = {slot: value for slot in first if (value := self._values.get(slot)) is not None}
                    self.seen.setdefault(record.look.number, values)
