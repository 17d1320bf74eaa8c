"""The run as seen by conversations, players and batches: journal, watchers, budget, pauses and end."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from console.config.secrets import redactor_for
from console.core.case import Key
from console.core.chat import ChatRequest
from console.core.endings import Endings
from console.core.fault import Fault, FaultKind
from console.core.live import Began
from console.core.overspend import overspend_words
from console.core.record import AnyRecord, Asked, Closed, Embedded, Finished, Opened, Tried
from console.core.run import ModelFacts
from console.core.tally import RunFold, without_output
from console.engine.budget import BudgetMeter, BudgetReached, WorstCase, with_cost, worst_case
from console.engine.circuit_breaker import CircuitBreaker
from console.engine.endpoints import Endpoints
from console.engine.journal_buffer import JournalBuffer
from console.engine.journal_door import JournalDoor, RecordT
from console.engine.outputs import DependencyOutputs
from console.engine.pause import ManualPause, ProviderPause
from console.engine.plan import PreparedRun
from console.engine.publish import Publisher
from console.engine.queue import Job
from console.engine.recorded_batches import RecordedBatches
from console.engine.recorded_effects import JournalEffects, read_whole
from console.engine.retry_line import RetryLine
from console.engine.role_warnings import RoleWarnings
from console.engine.running import RunningConversations
from console.engine.stage import CALL_STATES
from console.llm.endpoint import Endpoint
from console.store.journal import JournalWriter
from console.store.runs import RunFolder

SAID_DAMAGES = 5
_OVERTIME_S = 10.0
"""Seconds for silent calls to answer after the run's time is up."""
_DURABLE_S = 0.02
_UNCAPPED = WorstCase(0.0, 0)


class RunHost:
    """Journals the effects of conversations, and makes them wait while the run must not make calls."""

    journal: JournalBuffer
    publisher: Publisher

    def __init__(
        self,
        folder: RunFolder,
        prepared: PreparedRun,
        *,
        finish: Callable[[Job, Finished], None],
        on_record: Callable[[AnyRecord], None],
        notify: Callable[[str], None],
    ) -> None:
        """Prepare the run; `open_journal` and a publisher are needed before anything is played.

        Args:
            folder: the run's folder.
            prepared: its plan, cases and models.
            finish: records the outcome of a job that was set aside, once its refusal is attributed to it.
            on_record: called with every record as it is journaled.
            notify: called with a sentence for the user who started the run.
        """
        self.folder, self.manifest = folder, prepared.manifest
        self._finish, self._on_record, self._notify = finish, on_record, notify
        self.fold = RunFold(latest=Endings(self.manifest.rollouts))
        self.changed = asyncio.Event()
        self.ending: tuple[str, str] | None = None
        """Reason and message of the run's end, once nothing more is started."""
        self.phase = "running"
        self.is_cancelled = False
        self.running = RunningConversations()
        self.batches = RecordedBatches(self.manifest.id, resubmits=prepared.resubmits)
        self.endpoints = Endpoints(prepared.models, self.manifest, self)
        self.budget_meter = BudgetMeter(self.manifest.budget, self.manifest.most_in_flight)
        self.manual_pause, self.provider_pause = ManualPause(), ProviderPause(self.changed.set)
        self.retry_line = RetryLine(self.changed.set)
        self.circuit_breaker = CircuitBreaker(prepared.models, is_batched=self.manifest.is_batched)
        self.role_warnings = RoleWarnings(prepared.models, prepared.warnings, notify)
        self._door = JournalDoor(redactor_for(prepared.models.values()))
        self._outputs = DependencyOutputs(prepared.cases)
        self._external_states = frozenset(prepared.suite.external_states())

    @property
    def run_id(self) -> str:
        return self.manifest.id

    def notify(self, text: str) -> None:
        self._notify(text)

    # The journal -----------------------------------------------------------------------------------------------------

    def read_journal(self) -> JournalEffects:
        """Return the effects of earlier sessions, and count their calls, batches and outputs."""
        recorded = JournalEffects(finished=Endings(self.manifest.rollouts))
        reader = self.folder.reader()
        for record in read_whole(reader):
            if isinstance(record, Opened):
                self._count_lost()
            recorded.add(record)
            self.batches.add(record)
            self.fold.apply(without_output(record))
            if isinstance(record, Asked | Embedded):
                self.budget_meter.add_call(record, self.facts(record.role))
            elif isinstance(record, Tried):
                self.budget_meter.add_try(record, self.facts(record.role))
            elif isinstance(record, Closed):
                self.budget_meter.cut_usd += record.cut_usd
            elif isinstance(record, Finished):
                self.budget_meter.end_conversation(record.key)
                if record.key not in self.fold.rerolled:
                    self._outputs.add(record)
        self._count_lost()
        damages = self.folder.damages(reader)
        for damage in damages[:SAID_DAMAGES]:
            self.notify(f"{damage}; missing parts are run again")
        if (more := len(damages) - SAID_DAMAGES) > 0:
            self.notify(f"{more} more; `eval-console doctor --deep` lists them all")
        return recorded

    def _count_lost(self) -> None:
        """Count the calls in flight when the last session was killed; each conversation had at most one."""
        if self.fold.sessions and self.fold.closed is None:
            calls = min(len(self.fold.unfinished), self.manifest.concurrency)
            self.budget_meter.add_lost(calls, {"model": self.manifest.model, **self.manifest.roles})

    def open_journal(self, successor: Callable[[], str]) -> None:
        """Open the journal for writing; `successor` names the engine that has taken over, if one has."""
        self.journal = JournalBuffer(
            JournalWriter(self.folder.journal_path),
            self.fold,
            self.changed.set,
            self.notify,
            partial(self.end, "halted"),
            successor,
            is_graded_again=bool(self.manifest.regraded),
        )

    def redacted(self, text: str) -> str:
        """Return a text without keys."""
        return self._door.text(text)

    def admit(self, record: RecordT) -> RecordT:
        return self._door.admit(record)

    def append(self, record: AnyRecord) -> None:
        """Admit and journal a record and report to watchers the calls that it ends.

        Raises:
            Fault: the run is closed, and the conversation was cancelled (kind `internal`).
        """
        if self.phase == "closed":
            raise Fault(FaultKind.INTERNAL, "the run is closed")
        record = self._door.admit(record)
        if isinstance(record, Asked):
            record = with_cost(record, self.facts(record.role))
        elif isinstance(record, Tried):
            record = self.budget_meter.with_cut_cost(record)
        elif isinstance(record, Finished):
            record = self._with_exact_cost(record)
        self.journal.append(record)
        match record:
            case Asked() | Embedded():
                self.publisher.ended(record.key, record.n)
                self.budget_meter.add_call(record, self.facts(record.role))
            case Tried():
                self.publisher.restarted(record.key, record.n)
                self.budget_meter.add_try(record, self.facts(record.role))
            case Finished():
                self.budget_meter.end_conversation(record.key)
                self._outputs.add(record)
            case _:
                pass
        self._on_record(record)

    def _with_exact_cost(self, record: Finished) -> Finished:
        """Return the record of a conversation without its cost if more may have been charged for its calls."""
        spent = self.fold.unsettled.get(record.key, {})
        if not any(sums.is_partial(self.facts(role)) for role, sums in spent.items()):
            return record
        return msgspec.structs.replace(record, cost_usd=None)

    async def append_durably(self, record: AnyRecord) -> None:
        self.append(record)
        while not self.journal.is_durable:
            self.journal.sync_soon()
            await asyncio.sleep(_DURABLE_S)

    async def until_durable(self) -> None:
        """Wait until all records are on disk, unless the run was cancelled or the disk keeps failing."""
        while not (self.journal.is_durable or self.journal.is_lost or self.is_cancelled):
            if self.journal.blocked_by is not None and self.budget_meter.is_out_of_time:
                return
            self.changed.clear()
            self.journal.sync_soon()
            await self.changed.wait()

    def keep_files(self, contents: Mapping[str, bytes]) -> None:
        """Write the bytes of pictures, sound and files into the run's folder, each once."""
        for reference, data in contents.items():
            self.folder.keep_file(reference, data)

    # Models and earlier outputs --------------------------------------------------------------------------------------

    def endpoint(self, role: str) -> Endpoint:
        return self.endpoints.of(role)

    def facts(self, role: str) -> ModelFacts:
        return self.endpoints.facts(role)

    def output_of(self, case_id: str, rollout: int) -> Any:
        return self._outputs.get(case_id, rollout)

    def model_answered(self, role: str) -> None:
        """Record that a role's model answered: restore full speed and attribute earlier refusals to their cases."""
        self.role_warnings.clear(role)
        if not self.circuit_breaker.awaits_answer(role):
            return
        for job, finished in self.circuit_breaker.record_answer(role) if self.ending is None else ():
            self._finish(job, finished)
        self.changed.set()

    # Watchers --------------------------------------------------------------------------------------------------------

    def began(self, frame: Began) -> None:
        self.publisher.began(self._door.admit(frame))

    def text(self, key: Key, n: int, kind: str, text: str) -> None:
        self.publisher.text(key, n, kind, text)

    def state(self, key: Key, state: str, why: str = "") -> None:
        self.running.set_state(key, state, why)
        if self.ending is not None and self._is_cancellable(key, state):
            self.running.cancel(key)

    def _is_cancellable(self, key: Key, state: str) -> bool:
        """Return whether ending the run cancels a conversation in this state, because it may never end by itself."""
        return state == "waiting" or (state in self._external_states and not self.budget_meter.holds(key))

    @staticmethod
    def _is_silent(_: Key, state: str) -> bool:
        """Return whether a conversation waits for a call without any text so far."""
        return state in CALL_STATES

    # Pauses and budget -----------------------------------------------------------------------------------------------

    @property
    def pause_reason(self) -> str:
        """Reason that forbids calls; empty if they are allowed."""
        if self.manual_pause:
            return "paused"
        return "the disk refuses" if self.journal.blocked_by is not None else ""

    @property
    def is_paused(self) -> bool:
        """True while the user, the disk or a provider pauses the run, so that nothing new may start."""
        return bool(self.pause_reason or self.provider_pause.left_s)

    @property
    def all_wait(self) -> bool:
        is_settled = not (self.changed.is_set() or self.pause_reason or self.ending)
        return is_settled and self.running.all_wait

    async def wait_while_paused(self, key: Key) -> None:
        while self.manual_pause:
            self.state(key, "waiting", "paused")
            await self.manual_pause.wait()

    async def before_call(self, key: Key, n: int, request: ChatRequest, role: str) -> None:
        """Wait before a call while the run is paused, the disk fails, or calls in flight may use up the budget."""
        call = worst_case(request, self.facts(role), role) if self.budget_meter.is_capped else _UNCAPPED
        await self.reserve(key, n, call)

    async def reserve(self, key: Key, n: int, call: WorstCase) -> None:
        await self.wait_while_paused(key)
        if self.journal.blocked_by is not None:
            self.state(key, "waiting", "the disk refuses")
            await self.journal.unblocked.wait()
        while not self.budget_meter.reserve((key, n), *call):
            self.state(key, "waiting", "calls in flight may use up the budget")
            await self.budget_meter.wait_for_release()

    def release_reservation(self, key: Key, n: int, *, is_cut: bool = False) -> None:
        """Release the reservation of a call without an answer; it counts as charged if it was cut off."""
        self.budget_meter.release((key, n), is_cut=is_cut or self.is_cancelled)

    async def wait_to_retry(self, key: Key, seconds: float) -> None:
        """Wait for the next try, giving up the slot unless a model is still unproven."""
        lines_up = partial(self.state, key, "waiting", "for a free slot, to retry")
        keeps_slot = self.circuit_breaker.is_careful or self.budget_meter.is_capped  # others wait for its reservation
        await self.retry_line.wait(seconds, lines_up, keeps_slot=keeps_slot)
        await self.wait_while_paused(key)
        self.budget_meter.check_retry()

    async def pause_run(self, key: Key, fault: Fault) -> None:
        """Pause the whole run until the time a provider named, or until the user resumes it."""
        self.provider_pause.extend(fault.retry_after_s or 0.0)
        self.notify(f"{fault.message}: the run waits {self.provider_pause.left_s:.0f} s")
        self.state(key, "waiting", fault.message)
        await self.provider_pause.wait()

    def notify_overspend(self) -> None:
        """Say by how much the run's cap on money can be exceeded."""
        manifest = self.manifest
        if manifest.budget.cost_usd is not None:
            words = overspend_words([manifest.model, *manifest.roles.values()], manifest.most_in_flight)
            if words:
                self.notify(words)

    # The end ---------------------------------------------------------------------------------------------------------

    def check_caps(self) -> None:
        """End the run if its budget is exhausted."""
        try:
            self.budget_meter.check()
        except BudgetReached as reached:
            self.end("budget", str(reached))
            if self.budget_meter.is_out_of_time:
                asyncio.get_running_loop().call_later(_OVERTIME_S, self.running.cancel_in, self._is_silent)

    def end(self, reason: str, message: str = "") -> None:
        """Start no new calls; calls in flight may finish, waiting conversations are cancelled and stay resumable."""
        if self.ending is None:
            self.ending = (reason, message)
            self.phase = "stopping"
            self.changed.set()
            self.running.cancel_in(self._is_cancellable)

    def cancel(self, reason: str = "stopped", message: str = "") -> None:
        """Start no new calls and cancel everything in flight, which stays resumable."""
        self.end(reason, message)
        self.is_cancelled = True
        self.changed.set()
        self.running.cancel_all()
