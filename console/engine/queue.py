"""The rollouts left to play, in order, with their dependencies."""

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain

import msgspec

from console.core.case import Case, Key, Slot
from console.core.outcome import Outcome
from console.core.tally import Counted
from console.engine.recorded_effects import JournalEffects
from console.suites.planned_order import RolloutOrder


class RetryScope(StrEnum):
    """Scope of a retry: the finished rollouts that get another attempt."""

    NONE = "none"
    BROKEN = "broken"
    """Those without a grade, as with `resume` and `retry`. A graded rollout is never played again."""


class Job(msgspec.Struct, frozen=True, gc=False):
    """One rollout to be played."""

    case: Case
    key: Key

    @property
    def slot(self) -> Slot:
        return self.key.slot


class PlannedJobs:
    """Jobs left to play, in planned order; each is made when it is needed, because a run may have a million."""

    def __init__(self, cases: Sequence[Case], rollouts: int, *, by_case: bool = False) -> None:
        """Plan every rollout of every case (see `RolloutOrder`)."""
        self.cases, self._order = cases, RolloutOrder(len(cases), rollouts, by_case)
        self.places = array("I", range(len(self._order)))
        """Positions of the remaining jobs in the plan."""
        self.attempts: dict[Slot, int] = {}
        """Attempts of retried rollouts, from 2."""

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Job]:
        return map(self.job, self.places)

    def keep(self, is_left: Callable[[Slot], bool]) -> None:
        """Keep only these rollouts."""
        self.places = array("I", (place for place in self.places if is_left(self.slot(place))))

    def case(self, place: int) -> Case:
        """Return the case at a position of the plan."""
        return self.cases[self._order.at(place)[0]]

    def slot(self, place: int) -> Slot:
        case, rollout = self._order.at(place)
        return self.cases[case].id, rollout

    def job(self, place: int) -> Job:
        slot = self.slot(place)
        return Job(self.case(place), Key(*slot, self.attempts.get(slot, 1)))


class JobQueue:
    """Jobs in order; those with dependencies become ready when these have finished."""

    def __init__(self, jobs: PlannedJobs, done: Iterable[Slot]) -> None:
        """Store the jobs of a run and the rollouts that already have an answer.

        Dependencies outside the run's selection are left to the suite and block nothing.
        """
        self._jobs = jobs
        self._first: deque[Job] = deque()
        """Ready jobs that come before all others."""
        self._places = jobs.places[::-1]
        """Positions in the plan of the other ready jobs, the next one last, as it is removed there."""
        self._blocked: dict[Slot, tuple[Job, set[str]]] = {}
        self.is_cut = False
        """True if jobs were removed because they need no answers."""
        if any(case.depends_on for case in jobs.cases):
            self._block(set(done))

    def _block(self, finished: set[Slot]) -> None:
        """Set aside the jobs that wait for others."""
        selected = {case.id for case in self._jobs.cases}
        for job in self._jobs:
            rollout = job.key.rollout
            needs = {need for need in job.case.depends_on if need in selected and (need, rollout) not in finished}
            if needs:
                self._blocked[job.slot] = (job, needs)
        self._keep(lambda place: self._jobs.slot(place) not in self._blocked)

    def _keep(self, is_kept: Callable[[int], bool]) -> None:
        self._places = array("I", filter(is_kept, self._places))

    def __len__(self) -> int:
        """Return the number of jobs not yet handed out."""
        return len(self._first) + len(self._places) + len(self._blocked)

    @property
    def slots(self) -> Iterator[Slot]:
        """Rollouts of all jobs."""
        return chain(self._ready_slots, self._blocked)

    @property
    def _ready_slots(self) -> Iterator[Slot]:
        return chain((job.slot for job in self._first), map(self._jobs.slot, reversed(self._places)))

    @property
    def has_ready(self) -> bool:
        """True if a job may start now."""
        return bool(self._first or self._places)

    def has_only_held(self, may_start: Callable[[Slot], bool]) -> bool:
        """Return whether there are jobs, but all that could start now are held back."""
        return self.has_ready and not any(map(may_start, self._ready_slots))

    def next(self, *, from_end: bool = False, may_start: Callable[[Slot], bool] | None = None) -> Job | None:
        """Return the next job that may start now, or None.

        Args:
            from_end: take the last job instead, which has least in common with the previous ones and shows whether
                anything succeeds if a whole category fails.
            may_start: returns False for rollouts that are held back.
        """
        number = 0
        if may_start is not None:
            number = next((number for number, slot in enumerate(self._ready_slots) if may_start(slot)), len(self))
        elif from_end:
            number = len(self._first) + len(self._places) - 1
        if not 0 <= number < len(self._first) + len(self._places):
            return None
        if number < len(self._first):
            job = self._first[number]
            del self._first[number]
            return job
        return self._jobs.job(self._places.pop(len(self._first) - number - 1))

    def add(self, job: Job) -> None:
        """Move a job to the front."""
        self._first.appendleft(job)

    def finish(self, slot: Slot) -> None:
        """Unblock jobs that waited for a rollout; they come first, as they precede the others in the plan."""
        for job, needs in reversed(self._waiting_for(slot)):
            needs.discard(slot[0])
            if not needs:
                del self._blocked[job.slot]
                self._first.appendleft(job)

    def drop_dependents(self, slot: Slot) -> list[Job]:
        """Remove and return all jobs that depend, directly or indirectly, on a rollout without an answer."""
        lost: list[Job] = []
        for job, _ in self._waiting_for(slot):
            if self._blocked.pop(job.slot, None) is not None:
                lost += [job, *self.drop_dependents(job.slot)]
        return lost

    def drop_categories(self, categories: Collection[str]) -> None:
        """Remove the graded jobs of decided categories, unless jobs of other categories depend on them."""
        ready = chain((job.case for job in self._first), map(self._jobs.case, self._places))
        listed = chain(ready, (job.case for job, _ in self._blocked.values()))
        needed = {need for case in listed if case.category not in categories for need in case.depends_on}

        def is_kept(case: Case) -> bool:
            return case.category not in categories or not case.graded or case.id in needed

        before = len(self)
        self._first = deque(job for job in self._first if is_kept(job.case))
        self._keep(lambda place: is_kept(self._jobs.case(place)))
        self._blocked = {slot: (job, needs) for slot, (job, needs) in self._blocked.items() if is_kept(job.case)}
        self.is_cut = self.is_cut or len(self) < before

    def _waiting_for(self, slot: Slot) -> list[tuple[Job, set[str]]]:
        return [
            (job, needs)
            for (_, rollout), (job, needs) in self._blocked.items()
            if rollout == slot[1] and slot[0] in needs
        ]


def plan_jobs(
    cases: list[Case],
    rollouts: int,
    recorded: JournalEffects,
    retry: RetryScope,
    only: frozenset[str],
    *,
    by_case: bool = False,
) -> PlannedJobs:
    """Return the jobs left to play.

    Args:
        cases: all cases of the run in order.
        rollouts: rollouts per case.
        recorded: effects in the journal.
        retry: which finished rollouts get another attempt.
        only: case ids to restrict further attempts to; empty for all.
        by_case: see `RolloutOrder`.
    """
    jobs = PlannedJobs([recorded.cases.get(case.id, case) for case in cases], rollouts, by_case=by_case)
    jobs.attempts = dict(recorded.attempts)

    def is_left(slot: Slot) -> bool:
        attempt, finished = recorded.attempts.get(slot, 1), recorded.finished.get(slot)
        if finished is None or finished.key.attempt != attempt:
            return True
        if not _is_due(finished, retry) or (only and slot[0] not in only):
            return False
        jobs.attempts[slot] = attempt + 1
        return True

    if recorded.finished:
        jobs.keep(is_left)
    return jobs


def _is_due(finished: Counted, retry: RetryScope) -> bool:
    outcome = finished.verdict.outcome
    if outcome is Outcome.NOT_RUN:
        return finished.verdict.reason != "stopped" or retry is not RetryScope.NONE
    if retry is RetryScope.NONE:
        return False
    return outcome in (Outcome.BROKEN, Outcome.UNDECIDED)
