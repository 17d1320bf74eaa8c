"""The engine of one run: starts jobs as limits allow, and records how each ends."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from console import __version__
from console.core.case import Key, Slot
from console.core.fault import Fault, FaultKind, UsageError
from console.core.outcome import SETUP_DEPENDENCY, Outcome, Verdict
from console.core.record import AnyRecord, Closed, Finished, Opened, Started
from console.core.tally import has_grade
from console.engine.background import start_task, stop
from console.engine.budget import BudgetReached
from console.engine.early_end import EarlyEnd
from console.engine.local_conversation import cancelled_by_code
from console.engine.outputs import has_answer
from console.engine.plan import PreparedRun
from console.engine.player import LocalPlayer, PlayerFactory
from console.engine.publish import Publisher
from console.engine.queue import Job, JobQueue, PlannedJobs, RetryScope, plan_jobs
from console.engine.recorded_effects import ConversationEffects, EarlierPlay, JournalEffects, read_ungraded_play
from console.engine.run_control import RunControl
from console.engine.run_host import RunHost
from console.store.lock import RunLock
from console.store.runs import RunFolder
from console.suites.code_place import files_of, place_of_task

LONGEST_TIMER_S = 1e6
STOPPED = Verdict(Outcome.NOT_RUN, reason="stopped")


class Engine:
    """Plays one run to its end. Create it, then await `run` once."""

    def __init__(
        self,
        run: RunFolder,
        prepared: PreparedRun,
        *,
        retry: RetryScope = RetryScope.NONE,
        only: frozenset[str] = frozenset(),
        to_the_end: bool = False,
        player: PlayerFactory = LocalPlayer,
        on_record: Callable[[AnyRecord], None] | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare the run.

        Args:
            run: the run's folder, with its manifest written.
            prepared: suite, cases and models.
            retry: which finished rollouts get another attempt.
            only: restrict further attempts to these case ids.
            to_the_end: play everything, regardless of the looks' decisions.
            player: factory of the player.
            on_record: called with every record as it is journaled, for plain progress output.
            notify: called with a sentence when the run has to wait, and when it continues.
        """
        self.prepared = prepared
        self._retry, self._only = retry, only
        self._on_record = on_record
        self.host = RunHost(
            run, prepared, finish=self._finish, on_record=self._note_record, notify=notify or _ignore_text
        )
        self._player = player(self.host, prepared, self.host.endpoints)
        self._refusal: UsageError | None = None
        self._recorded: dict[Key, ConversationEffects] = {}
        self._ungraded: dict[Slot, EarlierPlay] = {}
        """Attempts that lack only the grade, until they are retried."""
        self._failure: Exception | None = None
        """The unexpected error in the background that ended the run."""
        self._early_end = EarlyEnd(
            run,
            prepared,
            self.host.fold,
            append=self.host.append,
            end=self.host.end,
            is_ending=lambda: self.host.ending is not None,
            to_the_end=to_the_end,
        )
        self.control = RunControl(self.host, self._player, self._early_end, prepared.cases)

    async def run(self) -> Closed:
        """Play until everything is finished or the run is stopped; return how it ended.

        Raises:
            RunLocked: another engine plays this run.
            UsageError: the journal was written by a newer version, or the player refuses the run.
            Fault: the journal cannot be opened, or records could not be written (kind `disk`).
            Exception: an unexpected error that was passed to `fail`.
        """
        host = self.host
        with RunLock(host.folder.lock_path) as lock:
            self._plan_queue(host.read_journal())
            host.open_journal(lock.successor)
            host.publisher = Publisher(
                host.folder.socket_path, self.control.status, self.control.execute, self._player.watch
            )
            try:
                await host.publisher.open(host.notify)
                closed = await self._play_all()
            finally:
                await self._shut_down()
                self._follow_folder(lock.current_path().parent)
        if (error := self._failure or self._refusal) is not None:
            raise error
        return closed

    def _follow_folder(self, path: Path) -> None:
        """Find the run's folder if it was renamed during play."""
        if path != self.host.folder.lock_path.parent:
            self.host.folder = RunFolder(path)
            self.host.notify(f"the run's folder was moved while it played: it is now {path}")

    def _plan_queue(self, recorded: JournalEffects) -> None:
        jobs = jobs_left(self.prepared, recorded, self._retry, self._only)
        self._recorded, self._ungraded = recorded.unfinished, recorded.ungraded
        self.queue = self.control.queue = JobQueue(jobs, _answered(recorded, jobs))

    async def _play_all(self) -> Closed:
        host = self.host
        epoch = host.fold.sessions + 1
        opened = Opened(at=time.time(), pid=os.getpid(), host=socket.gethostname(), version=__version__, epoch=epoch)
        host.journal.append(opened)
        has_jobs = len(self.queue) > 0
        self._early_end.open(self.queue)
        race = start_task(self._early_end.follow_race(host.changed.set), "race")
        timer = asyncio.get_running_loop().call_later(
            host.budget_meter.budget.seconds or LONGEST_TIMER_S, host.check_caps
        )
        if has_jobs:
            host.notify_overspend()
            await self._open_player(epoch)
            await host.role_warnings.check(host.changed, lambda: host.ending is not None)
        await self._schedule()
        timer.cancel()
        await stop(race)
        self._resolve_refusals()
        reason, message = host.ending or ("completed", "")
        is_all_played = not (len(self.queue) or self.queue.is_cut or host.fold.unfinished)
        if reason in ("stopped", "decided") and is_all_played:
            reason, message = "completed", ""  # the jobs in flight were the last ones
        await host.until_durable()  # first, so that a run is never closed while records are not on the disk
        closed = Closed(at=time.time(), reason=reason, message=message, cut_usd=host.budget_meter.cancelled_usd)
        host.append(closed)
        await host.until_durable()
        return closed

    async def _open_player(self, epoch: int) -> None:
        try:
            await self._player.open(epoch)
        except UsageError as refusal:
            self._refusal = refusal
            self.host.end("halted", str(refusal))

    async def _schedule(self) -> None:
        """Start jobs while there is room, until none is running and none can be started."""
        host = self.host
        while True:
            host.changed.clear()
            self._player.pause_calls(host.pause_reason)
            self._fill_slots()
            if host.is_cancelled:
                await self._until_none_plays()
                return
            if not host.running:
                waits = self._early_end.waits_for_rivals
                if host.ending or not (len(self.queue) or waits):
                    return
                if not host.is_paused:
                    if host.circuit_breaker:
                        self._resolve_refusals()
                        continue
                    if not waits:
                        return
            with contextlib.suppress(TimeoutError):  # a provider pause ends by time
                async with asyncio.timeout(host.provider_pause.left_s or None):
                    await host.changed.wait()

    def _fill_slots(self) -> None:
        """Give free slots to conversations whose failed call is due for a retry, then to new ones."""
        while self._may_start():
            if self.host.retry_line.is_next:
                self.host.retry_line.release_next()
                continue
            if not self.host.retry_line.has_room:
                return
            job = self.queue.next(
                from_end=self._player.is_suspect, may_start=self._early_end.may_start(self.control.concurrency)
            )
            if job is None:
                return
            if self._is_graded(job):
                continue
            self._start(job)

    def _may_start(self) -> bool:
        host = self.host
        slots_taken = len(host.running) - len(host.retry_line)
        has_slot = slots_taken < host.circuit_breaker.most_in_flight(self.control.concurrency)
        return has_slot and not (host.ending or host.is_paused)

    def _is_graded(self, job: Job) -> bool:
        """Return whether a job's rollout has a grade, whoever queued it: it is never played again."""
        fold = self.host.fold
        return job.key.case in fold.category_of and has_grade(fold.latest.get(job.slot))

    def _start(self, job: Job) -> None:
        if not self._recorded.get(job.key):
            self.host.append(Started(time.time(), job.key, job.case, forks=self.prepared.suite.forks))
        self.host.running.start(job.key, self._play(job), lambda: self._finish_unstarted(job))

    def _finish_unstarted(self, job: Job) -> None:
        if self.host.ending is None:
            self._finish(job, Finished(at=time.time(), key=job.key, verdict=STOPPED))
        self._remove(job.key)

    def _remove(self, key: Key) -> None:
        self.host.running.remove(key)
        self.host.publisher.ended(key)
        self.host.changed.set()

    async def _play(self, job: Job) -> None:
        """Play one conversation and record its outcome. Only cancellation or an exhausted budget leaves it open."""
        recorded = self._recorded.pop(job.key, None) or ConversationEffects()
        recorded.earlier = self._earlier_play(job)
        conversation = self._player.conversation(job, recorded)
        try:
            if job.key in self.control.retried and recorded.earlier is None:
                recorded.earlier = await asyncio.to_thread(read_ungraded_play, self.host.folder.journal_path, job.slot)
            finished = await conversation.play()
            self._finish_or_set_aside(job, finished, conversation.fault)
        except BudgetReached as reached:
            self.host.end("budget", str(reached))
        except asyncio.CancelledError as error:
            if not self.host.running.is_cancelled(job.key):
                self._finish(job, conversation.finished(cancelled_by_code(error, self.prepared.suite)))
            elif self.host.ending is None:
                self._finish(job, conversation.finished(STOPPED))
        except Exception as error:  # an internal error breaks this case, never the run
            self._finish_internal(job, error)
        finally:
            self._remove(job.key)

    def _earlier_play(self, job: Job) -> EarlierPlay | None:
        """Return an earlier attempt at a job's conversation whose answers are reused, or None."""
        earlier = self.prepared.earlier.play(job.key) if self.prepared.earlier is not None else None
        if earlier is not None:
            return earlier
        return self._ungraded.pop(job.slot, None) if job.key.attempt > 1 else None

    def _finish_internal(self, job: Job, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"[:400]
        try:
            verdict = Verdict(Outcome.BROKEN, reason=FaultKind.INTERNAL.value, messages=(text,))
            self._finish(job, Finished(at=time.time(), key=job.key, verdict=verdict))
        except Exception:  # if even that cannot be written, the run must not count as completed
            self.host.end("halted", f"the outcome of {job.key} could not be recorded: {text}")

    def _finish_or_set_aside(self, job: Job, finished: Finished, fault: Fault | None) -> None:
        """Journal a verdict, or set a refusal aside until either the run or the case is known to be at fault."""
        if fault is None or not fault.is_halting or self.host.circuit_breaker.is_case_fault(fault):
            self._finish(job, finished)
        elif self.host.circuit_breaker.set_aside(fault.role, job, finished):
            self.host.end("halted", fault.advice)

    def _resolve_refusals(self) -> None:
        """Attribute remaining refusals when the run ends: to the run if no model ever answered, else to their cases."""
        if verdict := self.host.circuit_breaker.verdict:
            self.host.end("halted", verdict)
        for job, finished in self.host.circuit_breaker.pop_refused():
            if self.host.ending is None or self.host.ending[0] != "halted":
                self._finish(job, finished)

    def _finish(self, job: Job, finished: Finished) -> None:
        self.host.append(finished)
        if finished.verdict.outcome is Outcome.BROKEN:
            self.host.budget_meter.errors += 1
            self.host.check_caps()
        self.host.circuit_breaker.note_end(has_answer=has_answer(finished))
        if has_answer(finished):
            self.queue.finish(job.slot)
        else:
            for lost in self.queue.drop_dependents(job.slot):
                reason = "dependency" if lost.case.graded else SETUP_DEPENDENCY
                verdict = Verdict(Outcome.NOT_RUN, reason, messages=(f"{job.key} has no answer",))
                self.host.append(Finished(at=time.time(), key=lost.key, verdict=verdict))
        self._early_end.take_looks()

    def fail(self, what: str, error: Exception) -> None:
        """End the run at once because of an unexpected error in the background; everything stays resumable."""
        if self._failure is None:
            self._failure = error
            words = f"{type(error).__name__}: {error}".removesuffix(": ")  # a lack of memory has no message
            message = self.host.redacted(f"internal error in the {what}: {words}"[:400])
            self.host.notify(f"{message}; the run ends, and `eval-console resume` continues it")
            self.host.cancel("halted", message)

    @property
    def in_flight(self) -> int:
        return len(self.host.running)

    async def _until_none_plays(self) -> None:
        """Wait until no conversation plays; those that ignore their cancellation stay open."""
        is_of_suite = files_of(self.prepared.suite)
        for key, task in (await self.host.running.until_empty()).items():
            place = place_of_task(task, is_of_suite)
            self.host.notify(f"{key} continues although it was cancelled ({place}); it stays open")

    async def _shut_down(self) -> None:
        async with contextlib.AsyncExitStack() as steps:  # attempt each, even if another fails
            steps.push_async_callback(self.host.journal.close)
            steps.push_async_callback(self._player.aclose)
            steps.push_async_callback(self.host.publisher.close)
            self.host.running.cancel_all()
            await self._until_none_plays()
            self.host.phase = "closed"

    def _note_record(self, record: AnyRecord) -> None:
        if isinstance(record, Finished):
            self._early_end.settle(record.key.slot)
        if self._on_record is not None:
            self._on_record(record)


def jobs_left(
    prepared: PreparedRun, recorded: JournalEffects, retry: RetryScope, only: frozenset[str] = frozenset()
) -> PlannedJobs:
    """Return the jobs of a run that are left to play (see `plan_jobs`)."""
    plan = prepared.manifest.looks
    experiment = prepared.manifest.experiment
    is_compared = experiment is not None and len(experiment.arms) > 1  # interleaves the arms in time
    by_case = is_compared or (plan is not None and plan.seed is not None)
    jobs = plan_jobs(prepared.cases, prepared.manifest.rollouts, recorded, retry, only, by_case=by_case)
    if prepared.earlier is not None:
        jobs.keep(prepared.earlier.has)
    return jobs


def _ignore_text(text: str) -> None:
    return


def _answered(recorded: JournalEffects, jobs: PlannedJobs) -> list[Slot]:
    """Return the rollouts that have an answer and are not due for another attempt."""
    due = {job.slot for job in jobs} if recorded.finished else set[Slot]()
    return [slot for slot, ended in recorded.finished.items() if slot not in due and has_answer(ended)]
