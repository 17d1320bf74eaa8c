"""The rollouts left to play, in order, with their dependencies."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from enum import StrEnum
from itertools import chain, product

import msgspec

from console.core.case import Case, Key, Slot
from console.core.outcome import Outcome
from console.core.record import Finished
from console.engine.recorded_effects import JournalEffects


class RetryScope(StrEnum):
    """Scope of a retry: the finished rollouts that get another attempt."""

    NONE = "none"
    BROKEN = "broken"
    """Machinery faults and undecided rollouts: the default of `resume` and `retry`."""
    FAILED = "failed"
    """Wrong answers too: an explicit re-roll, recorded as further attempts."""


class Job(msgspec.Struct, frozen=True, gc=False):
    """One rollout to be played; long runs hold very many."""

    case: Case
    key: Key

    @property
    def slot(self) -> Slot:
        """Case id and rollout."""
        return self.key.case, self.key.rollout


class JobQueue:
    """Jobs in order; those with dependencies become ready when these have finished."""

    def __init__(self, jobs: Iterable[Job], cases: Iterable[Case], done: Iterable[Slot]) -> None:
        """Take the jobs, all cases of the run, and the rollouts that already have an answer.

        Dependencies outside the run's selection are left to the suite and block nothing.
        """
        self._ready: deque[Job] = deque()
        self._blocked: dict[Slot, tuple[Job, set[str]]] = {}
        self.is_cut = False
        """True if jobs were removed that need no more answers."""
        finished, selected = set(done), {case.id for case in cases}
        for job in jobs:
            rollout = job.key.rollout
            needs = {need for need in job.case.depends_on if need in selected and (need, rollout) not in finished}
            if needs:
                self._blocked[job.slot] = (job, needs)
            else:
                self._ready.append(job)

    def __len__(self) -> int:
        """Return the number of jobs not yet handed out."""
        return len(self._ready) + len(self._blocked)

    @property
    def slots(self) -> Iterator[Slot]:
        """Rollouts of all jobs."""
        return (job.slot for job in chain(self._ready, (job for job, _ in self._blocked.values())))

    @property
    def has_ready(self) -> bool:
        """True if a job may start now."""
        return bool(self._ready)

    def has_only_held(self, may_start: Callable[[Slot], bool]) -> bool:
        """Return whether there are jobs, and all that might start now are held back."""
        return bool(self._ready) and not any(may_start(job.slot) for job in self._ready)

    def next(self, *, from_end: bool = False, may_start: Callable[[Slot], bool] | None = None) -> Job | None:
        """Return the next job that may start now, or None.

        Args:
            from_end: take the last job instead, which has least in common with the previous ones: if a whole
                category fails, it shows whether anything succeeds.
            may_start: returns False for rollouts that are held back.
        """
        if not self._ready:
            return None
        if may_start is not None:
            job = next((job for job in self._ready if may_start(job.slot)), None)
            if job is not None:
                self._ready.remove(job)
            return job
        return self._ready.pop() if from_end else self._ready.popleft()

    def add(self, job: Job) -> None:
        """Put a job first."""
        self._ready.appendleft(job)

    def finish(self, slot: Slot) -> None:
        """Unblock jobs that waited for a rollout; they come first, as they come before the others in the plan."""
        for job, needs in reversed(self._waiting_for(slot)):
            needs.discard(slot[0])
            if not needs:
                del self._blocked[job.slot]
                self._ready.appendleft(job)

    def drop_dependents(self, slot: Slot) -> list[Job]:
        """Remove and return all jobs that depend on a rollout without an answer, directly or indirectly."""
        lost: list[Job] = []
        for job, _ in self._waiting_for(slot):
            if self._blocked.pop(job.slot, None) is not None:
                lost += [job, *self.drop_dependents(job.slot)]
        return lost

    def drop_categories(self, categories: Collection[str]) -> None:
        """Remove the graded jobs of categories that need no more answers, unless jobs of others depend on them."""
        listed = [*self._ready, *(job for job, _ in self._blocked.values())]
        needed = {need for job in listed if job.case.category not in categories for need in job.case.depends_on}

        def is_kept(job: Job) -> bool:
            return job.case.category not in categories or not job.case.graded or job.case.id in needed

        before = len(self)
        self._ready = deque(filter(is_kept, self._ready))
        self._blocked = {slot: (job, needs) for slot, (job, needs) in self._blocked.items() if is_kept(job)}
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
) -> list[Job]:
    """Return the jobs left to play: all cases once before any is repeated.

    Args:
        cases: all cases of the run in order.
        rollouts: rollouts per case.
        recorded: effects in the journal.
        retry: which finished rollouts get another attempt.
        only: case ids to restrict further attempts to; empty for all.
        by_case: play all rollouts of a case in a row.
    """
    jobs: list[Job] = []
    numbers = range(rollouts)
    planned = product(cases, numbers) if by_case else ((case, rollout) for rollout in numbers for case in cases)
    for case, rollout in planned:
        attempt = recorded.attempts.get((case.id, rollout), 1)
        finished = recorded.finished.get((case.id, rollout))
        if finished is not None and finished.key.attempt == attempt:
            if not _is_due(finished, retry) or (only and case.id not in only):
                continue
            attempt += 1
        jobs.append(Job(recorded.cases.get(case.id, case), Key(case.id, rollout, attempt)))
    return jobs


def _is_due(finished: Finished, retry: RetryScope) -> bool:
    outcome = finished.verdict.outcome
    if outcome is Outcome.NOT_RUN:
        return finished.verdict.reason != "stopped" or retry is not RetryScope.NONE
    if retry is RetryScope.NONE:
        return False
    broken = outcome in (Outcome.BROKEN, Outcome.UNDECIDED)
    return broken or (retry is RetryScope.FAILED and outcome is Outcome.FAILED)
