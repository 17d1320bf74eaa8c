"""The engine of one run: starts jobs as limits allow, journals every effect and verdict, and publishes progress."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from console import __version__
from console.config.secrets import redactor_for
from console.core.case import Key, Slot
from console.core.chat import ChatRequest
from console.core.endings import Endings
from console.core.fault import Fault, FaultKind, UsageError
from console.core.live import Began, Command, Status
from console.core.outcome import SETUP_DEPENDENCY, Outcome, Verdict
from console.core.record import AnyRecord, Asked, Closed, Embedded, Finished, Opened, Started, Steered, Tried
from console.core.run import ModelFacts
from console.core.tally import RunFold, without_output
from console.engine.background import start_task, stop
from console.engine.budget import BudgetMeter, BudgetReached, worst_case
from console.engine.circuit_breaker import CircuitBreaker
from console.engine.early_end import EarlyEnd
from console.engine.endpoints import Endpoints
from console.engine.journal_buffer import JournalBuffer
from console.engine.journal_door import JournalDoor, RecordT
from console.engine.local_conversation import cancelled_by_code
from console.engine.outputs import DependencyOutputs, has_answer
from console.engine.pause import ManualPause, ProviderPause
from console.engine.plan import PreparedRun
from console.engine.player import LocalPlayer, PlayerFactory
from console.engine.publish import Publisher
from console.engine.queue import Job, JobQueue, PlannedJobs, RetryScope, plan_jobs
from console.engine.recorded_batches import RecordedBatches
from console.engine.recorded_effects import ConversationEffects, EarlierPlay, JournalEffects, read_whole
from console.engine.retry_line import RetryLine
from console.engine.role_warnings import RoleWarnings
from console.engine.running import RunningConversations
from console.llm.endpoint import Endpoint
from console.store.journal import JournalWriter
from console.store.lock import RunLock
from console.store.runs import RunFolder
from console.suites.code_place import files_of, place_of_task

MAX_CONCURRENCY = 512
LONGEST_TIMER_S = 1e6
SAID_DAMAGES = 5
_DURABLE_S = 0.02
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
            to_the_end: play everything, whatever the looks decide or have decided.
            player: factory of the player.
            on_record: called with every record as it is journaled, for plain progress output.
            notify: called with a sentence when the run has to wait, and when it continues.
        """
        self.folder, self.prepared = run, prepared
        self.manifest = prepared.manifest
        self.concurrency = prepared.manifest.concurrency
        self.fold = RunFold(latest=Endings(self.manifest.rollouts))
        self._retry, self._only = retry, only
        self._on_record, self._notify = on_record, notify or _ignore_text
        self._door = JournalDoor(redactor_for(prepared.models.values()))
        self.batches = RecordedBatches(self.manifest.id)
        self._endpoints = Endpoints(prepared.models, prepared.manifest, self)
        self._player = player(self, prepared, self._endpoints)
        self._refusal: UsageError | None = None
        self._running = RunningConversations()
        self._recorded: dict[Key, ConversationEffects] = {}
        self._ungraded: dict[Slot, EarlierPlay] = {}
        """Attempts that a judge broke, until they are retried."""
        self._outputs = DependencyOutputs(prepared.cases)
        self._changed = asyncio.Event()
        self._state, self._manual_pause = "running", ManualPause()
        self._cancelled = False
        self._provider_pause = ProviderPause(self._changed.set)
        self._retry_line = RetryLine(self._changed.set)
        self._circuit_breaker = CircuitBreaker(prepared.models, is_batched=self.manifest.is_batched)
        self._role_warnings = RoleWarnings(prepared.models, prepared.warnings, self.notify)
        self._ending: tuple[str, str] | None = None
        self._failure: Exception | None = None
        """The unexpected error in the background that ended the run."""
        self.budget_meter = BudgetMeter(prepared.manifest.budget)
        self._early_end = EarlyEnd(
            run,
            prepared,
            self.fold,
            append=self.append,
            end=self.end,
            is_ending=lambda: self._ending is not None,
            to_the_end=to_the_end,
        )

    async def run(self) -> Closed:
        """Play until everything is finished or the run is stopped; return how it ended.

        Raises:
            RunLocked: another engine plays this run.
            UsageError: the journal was written by a newer version, or the player refuses the run.
            Fault: the journal cannot be opened, or records could not be written (kind `disk`).
            Exception: an unexpected error that was passed to `fail`.
        """
        with RunLock(self.folder.lock_path) as lock:
            self._plan_queue(self._read_journal())
            journal = JournalWriter(self.folder.journal_path)
            self.journal = JournalBuffer(
                journal,
                self.fold,
                self._changed.set,
                self.notify,
                partial(self.end, "halted"),
                lock.successor,
                is_graded_again=bool(self.manifest.regraded),
            )
            self.publisher = Publisher(self.folder.socket_path, self.status, self.handle_command, self._player.watch)
            try:
                await self.publisher.open(self.notify)
                closed = await self._play_all()
            finally:
                await self._shut_down()
                self._follow_folder(lock.current_path().parent)
        if (error := self._failure or self._refusal) is not None:
            raise error
        return closed

    def _follow_folder(self, path: Path) -> None:
        """Find the run where it is now, if its folder was renamed while it played."""
        if path != self.folder.lock_path.parent:
            self.folder = RunFolder(path)
            self.notify(f"the run's folder was moved while it played: it is now {path}")

    def _read_journal(self) -> JournalEffects:
        recorded = JournalEffects(finished=Endings(self.manifest.rollouts))
        reader = self.folder.reader()
        for record in read_whole(reader):
            recorded.add(record)
            self.batches.add(record)
            self.fold.apply(without_output(record))
            if isinstance(record, Asked | Embedded):
                self.budget_meter.add_call(record, self.facts(record.role))
            elif isinstance(record, Finished):
                self.budget_meter.end_conversation(record.key)
                self._outputs.add(record)
        damages = self.folder.damages(reader)
        for damage in damages[:SAID_DAMAGES]:
            self.notify(f"{damage}; missing parts are run again")
        if (more := len(damages) - SAID_DAMAGES) > 0:
            self.notify(f"{more} more; `eval-console doctor --deep` lists them all")
        return recorded

    def _plan_queue(self, recorded: JournalEffects) -> None:
        """Queue the jobs that are left."""
        jobs = jobs_left(self.prepared, recorded, self._retry, self._only)
        self._recorded, self._ungraded = recorded.unfinished, recorded.ungraded
        self.queue = JobQueue(jobs, _answered(recorded, jobs))

    async def _play_all(self) -> Closed:
        epoch = self.fold.sessions + 1
        opened = Opened(at=time.time(), pid=os.getpid(), host=socket.gethostname(), version=__version__, epoch=epoch)
        self.journal.append(opened)
        has_jobs = len(self.queue) > 0
        self._early_end.open(self.queue)
        race = start_task(self._early_end.follow_race(self._changed.set), "race")
        timer = asyncio.get_running_loop().call_later(
            self.budget_meter.budget.seconds or LONGEST_TIMER_S, self._check_caps
        )
        if has_jobs:
            await self._open_player(epoch)
            await self._role_warnings.check(self._changed, lambda: self._ending is not None)
        await self._schedule()
        timer.cancel()
        await stop(race)
        self._resolve_refusals()
        reason, message = self._ending or ("completed", "")
        is_all_played = not (len(self.queue) or self.queue.is_cut or self.fold.unfinished)
        if reason in ("stopped", "decided") and is_all_played:
            reason, message = "completed", ""  # the jobs in flight were the last ones
        await self._until_durable()  # first, so that a run is never closed while records are not on the disk
        closed = Closed(at=time.time(), reason=reason, message=message)
        self.append(closed)
        await self._until_durable()
        return closed

    async def _open_player(self, epoch: int) -> None:
        try:
            await self._player.open(epoch)
        except UsageError as refusal:
            self._refusal = refusal
            self.end("halted", str(refusal))

    def _check_caps(self) -> None:
        try:
            self.budget_meter.check()
        except BudgetReached as reached:
            self.end("budget", str(reached))
            self._changed.set()

    async def _until_durable(self) -> None:
        """Wait until all records are on the disk, unless the run was cancelled, or the disk fails beyond its time."""
        while not (self.journal.is_durable or self.journal.is_lost or self._cancelled):
            if self.journal.blocked_by is not None and self.budget_meter.is_out_of_time:
                return
            self._changed.clear()
            self.journal.sync_soon()
            await self._changed.wait()

    async def _schedule(self) -> None:
        """Start jobs while there is room, until none is running and none can be started."""
        while True:
            self._changed.clear()
            self._player.pause_calls(self._pause_reason())
            self._fill_slots()
            if self._cancelled:
                await self._until_none_plays()
                return
            if not self._running:
                waits = self._early_end.waits_for_rivals
                if self._ending or not (len(self.queue) or waits):
                    return
                if not self._manual_pause and self.journal.blocked_by is None and not self._provider_pause.left_s:
                    if self._circuit_breaker:
                        self._resolve_refusals()
                        continue
                    if not waits:
                        return
            with contextlib.suppress(TimeoutError):  # a provider pause ends by time
                async with asyncio.timeout(self._provider_pause.left_s or None):
                    await self._changed.wait()

    def _pause_reason(self) -> str:
        """Return the reason that forbids calls; empty if they are allowed."""
        if self._manual_pause:
            return "paused"
        return "the disk refuses" if self.journal.blocked_by is not None else ""

    def _fill_slots(self) -> None:
        """Give free slots to new conversations and to those whose failed call is due for a retry."""
        while self._may_start():
            if self._retry_line.is_next(others_wait=self.queue.has_ready):
                self._retry_line.release_next()
                continue
            if not self._retry_line.has_room:
                return
            job = self.queue.next(
                from_end=self._player.is_suspect, may_start=self._early_end.may_start(self.concurrency)
            )
            if job is None:
                return
            self._retry_line.note_start()
            self._start(job)

    def _may_start(self) -> bool:
        if self._ending or self._manual_pause or self.journal.blocked_by is not None or self._provider_pause.left_s:
            return False
        slots_taken = len(self._running) - len(self._retry_line)
        return slots_taken < self._circuit_breaker.most_in_flight(self.concurrency)

    def _start(self, job: Job) -> None:
        if not self._recorded.get(job.key):
            self.append(Started(time.time(), job.key, job.case, forks=self.prepared.suite.forks))
        self._running.start(job.key, self._play(job), lambda: self._finish_unstarted(job))

    def _finish_unstarted(self, job: Job) -> None:
        if self._ending is None:
            self._finish(job, Finished(at=time.time(), key=job.key, verdict=STOPPED))
        self._remove(job.key)

    def _remove(self, key: Key) -> None:
        self._running.remove(key)
        self.publisher.ended(key)
        self._changed.set()

    async def _play(self, job: Job) -> None:
        """Play one conversation and record its outcome. Only cancellation and a used-up budget leave it open."""
        recorded = self._recorded.pop(job.key, None) or ConversationEffects()
        recorded.earlier = self._earlier_play(job)
        conversation = self._player.conversation(job, recorded)
        try:
            finished = await conversation.play()
            self._finish_or_set_aside(job, finished, conversation.fault)
        except BudgetReached as reached:
            self.end("budget", str(reached))
        except asyncio.CancelledError as error:
            if not self._running.is_cancelled(job.key):
                self._finish(job, conversation.finished(cancelled_by_code(error, self.prepared.suite)))
            elif self._ending is None:
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
            self.end("halted", f"the outcome of {job.key} could not be recorded: {text}")

    def _finish_or_set_aside(self, job: Job, finished: Finished, fault: Fault | None) -> None:
        """Journal a verdict, or set a refusal aside until it is clear whether the run or the case is at fault."""
        if fault is None or not fault.is_halting or self._circuit_breaker.is_case_fault(fault):
            self._finish(job, finished)
        elif self._circuit_breaker.set_aside(fault.role, job, finished):
            self.end("halted", fault.advice)

    def _resolve_refusals(self) -> None:
        """Attribute refusals at the end: to the run if no model ever answered, else to their cases."""
        if verdict := self._circuit_breaker.verdict:
            self.end("halted", verdict)
        for job, finished in self._circuit_breaker.pop_refused():
            if self._ending is None or self._ending[0] != "halted":
                self._finish(job, finished)

    def _finish(self, job: Job, finished: Finished) -> None:
        self.append(finished)
        if finished.verdict.outcome is Outcome.BROKEN:
            self.budget_meter.errors += 1
            self._check_caps()
        if has_answer(finished):
            self.queue.finish(job.slot)
        else:
            for lost in self.queue.drop_dependents(job.slot):
                reason = "dependency" if lost.case.graded else SETUP_DEPENDENCY
                verdict = Verdict(Outcome.NOT_RUN, reason, messages=(f"{job.key} has no answer",))
                self.append(Finished(at=time.time(), key=lost.key, verdict=verdict))
        self._early_end.take_looks()

    def end(self, reason: str, message: str = "") -> None:
        """Start nothing more; calls in flight may finish, waiting conversations are cancelled and stay resumable."""
        if self._ending is None:
            self._ending = (reason, message)
            self._state = "stopping"
            self._changed.set()
            self._running.cancel_waiting()

    def fail(self, what: str, error: Exception) -> None:
        """End the run at once because of an unexpected error in the background; everything stays resumable."""
        if self._failure is None:
            self._failure = error
            words = f"{type(error).__name__}: {error}".removesuffix(": ")  # a lack of memory has no message
            message = self._door.text(f"internal error in the {what}: {words}"[:400])
            self.notify(f"{message}; the run ends, and `eval-console resume` continues it")
            self.cancel("halted", message)

    def cancel(self, reason: str = "stopped", message: str = "") -> None:
        """Start nothing more and cancel everything in flight, which stays resumable."""
        self.end(reason, message)
        self._cancelled = True
        self._changed.set()
        self._running.cancel_all()

    @property
    def in_flight(self) -> int:
        """Number of conversations in flight."""
        return len(self._running)

    async def _until_none_plays(self) -> None:
        """Wait until no conversation plays; those that go on in spite of their cancellation stay open."""
        is_of_suite = files_of(self.prepared.suite)
        for key, task in (await self._running.until_empty()).items():
            place = place_of_task(task, is_of_suite)
            self.notify(f"{key} goes on although it was cancelled ({place}); it stays open")

    async def _shut_down(self) -> None:
        async with contextlib.AsyncExitStack() as steps:  # each is taken, even if another fails
            steps.push_async_callback(self.journal.close)
            steps.push_async_callback(self._player.aclose)
            steps.push_async_callback(self.publisher.close)
            self._running.cancel_all()
            await self._until_none_plays()
            self._state = "closed"

    # Interface for stages and players.

    def notify(self, text: str) -> None:
        """Tell the user who started the run, in a sentence."""
        self._notify(text)

    def admit(self, record: RecordT) -> RecordT:
        """Return a record as readers of the journal will see it."""
        return self._door.admit(record)

    def append(self, record: AnyRecord) -> None:
        """Admit and journal a record and tell watchers which calls it ends.

        Raises:
            Fault: the run is closed, and whoever plays on was cancelled (kind `internal`).
        """
        if self._state == "closed":
            raise Fault(FaultKind.INTERNAL, "the run is closed")
        record = self._door.admit(record)
        self.journal.append(record)
        match record:
            case Asked() | Embedded():
                self.publisher.ended(record.key, record.n)
                self.budget_meter.add_call(record, self.facts(record.role))
            case Tried():
                self.publisher.restarted(record.key, record.n)
            case Finished():
                self.budget_meter.end_conversation(record.key)
                self._outputs.add(record)
                self._early_end.settle((record.key.case, record.key.rollout))
            case _:
                pass
        if self._on_record is not None:
            self._on_record(record)

    async def append_durably(self, record: AnyRecord) -> None:
        """Journal a record, and return when the disk has confirmed it."""
        self.append(record)
        while not self.journal.is_durable:
            self.journal.sync_soon()
            await asyncio.sleep(_DURABLE_S)

    @property
    def run_id(self) -> str:
        """Id of the run."""
        return self.manifest.id

    @property
    def all_wait(self) -> bool:
        """True if every conversation waits, no other can start, and calls are allowed."""
        is_settled = not (self._changed.is_set() or self._pause_reason() or self._ending)
        return is_settled and self._running.all_wait

    def endpoint(self, role: str) -> Endpoint:
        """Return the open endpoint of a role, or raise a Fault of kind `data` if the run has none."""
        return self._endpoints.of(role)

    def facts(self, role: str) -> ModelFacts:
        """Return the manifest's facts about a role's model."""
        return self._endpoints.facts(role)

    def keep_files(self, contents: Mapping[str, bytes]) -> None:
        """Write the bytes of pictures, sound and files into the run's folder, each once."""
        for reference, data in contents.items():
            self.folder.keep_file(reference, data)

    def began(self, frame: Began) -> None:
        """Tell watchers that a call is in flight."""
        self.publisher.began(self._door.admit(frame))

    def text(self, key: Key, n: int, kind: str, text: str) -> None:
        """Tell watchers of new text."""
        self.publisher.text(key, n, kind, text)

    def state(self, key: Key, state: str, why: str = "") -> None:
        """Record what a conversation is doing."""
        self._running.set_state(key, state, why)
        if state == "waiting" and self._ending is not None:
            self._running.cancel(key)

    def model_answered(self, role: str) -> None:
        """Record that a role's model answered: restore full speed and attribute earlier refusals to their cases."""
        self._role_warnings.clear(role)
        if not self._circuit_breaker.awaits_answer(role):
            return
        for job, finished in self._circuit_breaker.record_answer(role) if self._ending is None else ():
            self._finish(job, finished)
        self._changed.set()

    async def wait_while_paused(self, key: Key) -> None:
        """Wait while the run is paused, before the next call of a conversation."""
        while self._manual_pause:
            self.state(key, "waiting", "paused")
            await self._manual_pause.wait()

    async def before_call(self, key: Key, n: int, request: ChatRequest, role: str) -> None:
        """Wait before a call while the run is paused, the disk fails, or calls in flight may use up the budget."""
        await self.reserve(key, n, *worst_case(request, self.facts(role)))

    async def reserve(self, key: Key, n: int, cost: float, tokens: int) -> None:
        """Wait until a call of this worst-case cost, in USD and tokens, may be made, and reserve it."""
        await self.wait_while_paused(key)
        if self.journal.blocked_by is not None:
            self.state(key, "waiting", "the disk refuses")
            await self.journal.unblocked.wait()
        while not self.budget_meter.reserve((key, n), cost, tokens):
            self.state(key, "waiting", "calls in flight may use up the budget")
            await self.budget_meter.wait_for_release()

    async def wait_to_retry(self, key: Key, seconds: float) -> None:
        """Wait for the next try, without a slot unless a model is still unproven."""
        lines_up = partial(self.state, key, "waiting", "for a free slot, to retry")
        await self._retry_line.wait(seconds, lines_up, keeps_slot=self._circuit_breaker.is_careful)
        await self.wait_while_paused(key)

    async def pause_run(self, key: Key, fault: Fault) -> None:
        """Pause the whole run until the time a provider named, or until the user resumes it."""
        self._provider_pause.extend(fault.retry_after_s or 0.0)
        self.notify(f"{fault.message}: the run waits {self._provider_pause.left_s:.0f} s")
        self.state(key, "waiting", fault.message)
        await self._provider_pause.wait()

    def _retry_now(self) -> None:
        self._provider_pause.end()
        self._player.retry_now()
        self._retry_line.retry_now()

    def release_reservation(self, key: Key, n: int) -> None:
        """Release a call's reservation; its real cost follows with its record."""
        self.budget_meter.release((key, n))

    def output_of(self, case_id: str, rollout: int) -> Any:
        """Return the output of a rollout that has an answer, else None."""
        return self._outputs.get(case_id, rollout)

    # Interface for watchers.

    def status(self) -> Status:
        """Return the engine's state for watchers."""
        why = self._ending[1] if self._ending else ""
        waits = "" if self._running else self._early_end.waiting_words
        return Status(
            state=self._shown_state(),
            concurrency=self.concurrency,
            activities=self._running.activities,
            endpoints=list(self._player.endpoint_states()),
            workers=list(self._player.worker_states()),
            message=self._provider_pause.why or self.journal.why or why or self._role_warnings.text or waits,
        )

    def _shown_state(self) -> str:
        if not self._manual_pause or self._state != "running":
            return self._state
        return "paused" if self._running.all_wait else "pausing"

    def handle_command(self, command: Command) -> None:
        """Execute a watcher's command."""
        match command.do:
            case "pause" | "resume":
                self._manual_pause.set(on=command.do == "pause")
            case "stop":
                self._manual_pause.set(on=False)
                self.end("stopped")
            case "kill":
                self._manual_pause.set(on=False)
                self.cancel()
            case "concurrency":
                self.concurrency = max(1, min(MAX_CONCURRENCY, command.value))
            case "retry_now":
                self._retry_now()
            case "stop_case" if command.key is not None:
                self._running.cancel(command.key)
            case "retry_case":
                self._retry_case(command.key)
            case _:
                return
        self.append(Steered(at=time.time(), what=command.do, value=str(command.value or command.key or "")))
        self._changed.set()

    def _retry_case(self, key: Key | None) -> None:
        case = next((case for case in self.prepared.cases if key is not None and case.id == key.case), None)
        if key is None or case is None or self._ending or key in self._running:
            return
        finished = self.fold.latest.get((key.case, key.rollout))
        attempt = finished.key.attempt + 1 if finished else key.attempt
        next_key = Key(key.case, key.rollout, attempt)
        if next_key not in self._running:
            self.queue.add(Job(case, next_key))


def jobs_left(
    prepared: PreparedRun, recorded: JournalEffects, retry: RetryScope, only: frozenset[str] = frozenset()
) -> PlannedJobs:
    """Return the jobs of a run that are left to play (see `plan_jobs`)."""
    plan = prepared.manifest.looks
    experiment = prepared.manifest.experiment
    is_compared = experiment is not None and len(experiment.arms) > 1  # its arms are mixed in time
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
