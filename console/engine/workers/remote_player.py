"""The engine's side of distributed runs: conversations go to the least busy worker, and their records are journaled.

All records of a lost worker that have arrived stay valid and are given to the next worker, so at most the calls in
flight are paid for twice. Messages of an assignment that is over are refused.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import msgspec

from console.config.secrets import secrets_of
from console.core.fault import Fault, FaultKind, UsageError
from console.core.live import EndpointState, WorkerState
from console.core.outcome import Verdict
from console.core.ready_type import ready_type
from console.core.record import AnyRecord, Asked, Embedded, Finished, Lost
from console.engine.background import start_task
from console.engine.budget import BudgetReached, WorstCase, cost_of, cost_of_embedding
from console.engine.endpoints import Endpoints
from console.engine.local_conversation import broken
from console.engine.plan import PreparedRun, program_versions, weights_digests, weights_folder
from console.engine.player import Player, PlayerContext
from console.engine.queue import Job
from console.engine.recorded_effects import ConversationEffects
from console.engine.workers import messages
from console.engine.workers.data_copy import find_run_data, pack
from console.engine.workers.messages import (
    LineReader,
    LineWriter,
    Message,
    NotUnderstood,
    Piece,
    Setup,
    WorkerFacts,
    write_setup,
)
from console.engine.workers.preflight import check_models, compare, digest_of, needs_data
from console.llm.limits.keeper import FromKeeper, Leave, ToKeeper
from console.llm.limits.keeper_socket import LocalKeepers

MOST_LOSSES = 3
"""Number of workers that may die while playing a conversation before it is abandoned."""
SPAWN_TRIES = 3
"""Number of consecutive failed starts, with no worker left, after which the run ends."""
NODE_NOTICED_S = 30.0
"""Seconds for which a cluster may still start workers on a lost node."""
RESPAWN_S = 1.0
SILENT_S = 60.0
"""Seconds without an answer after which a worker counts as lost."""
READY_S = 300.0
"""Seconds within which a worker must be ready; eight workers on two busy CPUs took 75 s."""
SLOW_S = 60.0
"""Seconds after which the user is notified that workers are not ready yet."""
DATA_S = 900.0
"""Like `READY_S`, for a worker whose node must receive data first."""


class WorkerGone(Exception):
    """A worker, or the connection to it, is gone; the message has the reason."""

    def __init__(self, text: str, *, is_alone: bool = True) -> None:
        """Create the exception.

        Args:
            text: how it ended.
            is_alone: whether the worker died alone, which a case may cause, rather than with its node or cluster.
        """
        super().__init__(text)
        self.is_alone = is_alone


class WorkerLink(Protocol):
    """Connection to one worker."""

    async def prepare(self, setup: bytes, parts: Sequence[Any]) -> bytes:
        """Let the worker prepare for the run; return its facts.

        Args:
            setup: the run to play.
            parts: results of `Fleet.put` for the data named in the setup.

        Raises:
            WorkerGone: the worker is gone, or never started.
        """
        ...

    def deliver(self, piece: Piece) -> None:
        """Send part of the engine's stream; failures show in `poll`."""
        ...

    async def poll(self) -> Piece:
        """Return the next part of the worker's stream.

        Raises:
            WorkerGone: the worker is gone.
        """
        ...

    def kill(self) -> None:
        """Terminate the worker without waiting for it."""
        ...


class Fleet(Protocol):
    """Source of workers."""

    @property
    def size(self) -> int:
        """Target number of workers."""
        ...

    async def spawn(self) -> WorkerLink:
        """Start a worker.

        Raises:
            UsageError: the cluster is gone.
        """
        ...

    def put(self, part: bytes) -> Any:
        """Store a part of the data where every node can fetch it; return a reference for workers.

        Raises:
            UsageError: there is no space.
        """
        ...

    async def until_gone(self) -> str:
        """Wait until the cluster itself is gone, if ever; return a message about it."""
        ...

    def close(self) -> None:
        """Disconnect from the cluster, ending any part of it started here."""
        ...


class RemoteWorker:
    """One ready worker: its streams and its conversations."""

    def __init__(self, link: WorkerLink, facts: WorkerFacts, epoch: int, number: int) -> None:
        self.link, self.name, self.number = link, facts.name, number
        self.conversations: dict[int, RemoteConversation] = {}
        self.endpoints: list[EndpointState] = []
        self.is_suspect = False
        self.relays: dict[str, KeeperRelay] = {}
        self.calls = 0
        self.since = time.time()
        self.lost_by = ""
        self.is_lost_alone = True
        self.reader = LineReader(epoch)
        self._writer = LineWriter(epoch)
        self._flushing = False

    def send(self, message: Message) -> None:
        """Send a message, batched with others of the same loop iteration."""
        self._writer.add(message)
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        while len(self._writer) and not self.lost_by:
            self.link.deliver(self._writer.pop_piece())

    def close_relays(self) -> None:
        """Tell the limit keepers that this worker's calls in flight are abandoned."""
        for relay in self.relays.values():
            relay.close()

    @property
    def state(self) -> WorkerState:
        return WorkerState(
            name=self.name,
            state="lost" if self.lost_by else "playing",
            conversations=len(self.conversations),
            calls=self.calls,
            since=self.since,
            why=self.lost_by,
        )


class KeeperRelay:
    """Connects a worker to an endpoint's limit keeper (`keeper_socket.Peer`), whose socket is on this machine."""

    def __init__(self, worker: RemoteWorker, endpoint: str, size: int) -> None:
        self._worker, self._endpoint, self._size = worker, endpoint, size
        self._send: Callable[[ToKeeper], None] | None = None
        self.way: asyncio.Task[None] | None = None

    def connected(self, send: Callable[[ToKeeper], None]) -> None:
        self._send = send
        self._worker.send(messages.KeeperFound(self._endpoint))

    def received(self, message: FromKeeper) -> None:
        self._worker.send(messages.KeeperAnswer(self._endpoint, message))

    def alone(self) -> None:
        self._send = None
        self._worker.send(messages.KeeperGone(self._endpoint, self._size))

    def tell(self, message: ToKeeper) -> None:
        if self._send is not None:
            self._send(message)

    def leave(self) -> None:
        self.tell(Leave())

    def close(self) -> None:
        if self.way is not None:
            self.way.cancel()


class SentData:
    """The run's data, packed and stored for nodes on the first request."""

    def __init__(self, prepared: PreparedRun, fleet: Fleet) -> None:
        self._prepared, self._fleet = prepared, fleet
        self._sending = asyncio.Lock()
        self._sent: tuple[str, list[Any]] | UsageError | None = None

    async def get(self) -> tuple[str, list[Any]]:
        """Return the digest of the data and the references for fetching it.

        Raises:
            UsageError: the data cannot be sent.
        """
        async with self._sending:
            if self._sent is None:
                try:
                    self._sent = await asyncio.to_thread(self._send)
                except UsageError as refusal:  # the same for all waiting workers
                    self._sent = refusal
            if isinstance(self._sent, UsageError):
                raise self._sent
            return self._sent

    def _send(self) -> tuple[str, list[Any]]:
        prepared, parts = self._prepared, list[Any]()
        suite, models = prepared.suite, prepared.models
        weights = weights_folder(models, suite, prepared.cases)
        secrets = [secret for model in models.values() for secret in secrets_of(model)]
        data = find_run_data(suite.entry.name, suite.entry.folder, weights, secrets)
        pack(data, lambda part: parts.append(self._fleet.put(part)))
        return data.digest, parts


class RemotePlayer(Player):
    """A player (see `engine.player`) that delegates to workers."""

    def __init__(self, context: PlayerContext, prepared: PreparedRun, endpoints: Endpoints, *, fleet: Fleet) -> None:
        del endpoints  # workers have their own
        self.context, self.manifest = context, prepared.manifest
        self.is_capped = prepared.manifest.budget.cost_usd is not None or prepared.manifest.budget.tokens is not None
        self._prepared, self._fleet = prepared, fleet
        self._sent_data = SentData(prepared, fleet)
        self._epoch = self._jobs = 0
        self._workers: list[RemoteWorker] = []
        self._lost: list[WorkerState] = []
        self._starting = 0
        self._failed_spawns = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready = asyncio.Event()
        self._keepers = LocalKeepers(start_task)
        self._pause_reason = ""
        self._is_watched = self._is_closed = self._is_cluster_gone = False

    async def open(self, epoch: int) -> None:
        """Start the workers and compare each with the engine; playing starts when all have been checked.

        Raises:
            UsageError: a worker differs, or none can be started.
        """
        if self._prepared.earlier is not None:
            raise UsageError("repeats conversations whose journal only this machine has", hint="Omit --on.")
        check_models(self._prepared.models)
        weights = weights_folder(self._prepared.models, self._prepared.suite, self._prepared.cases)
        self._epoch = epoch
        self._ours = WorkerFacts(
            name="engine",
            host=_host(),
            versions=program_versions(),
            dataset=self._prepared.manifest.dataset,
            cases=await asyncio.to_thread(digest_of, self._prepared.cases),
            weights=await asyncio.to_thread(weights_digests, weights),
        )
        number = self._fleet.size
        slow = asyncio.get_running_loop().call_later(SLOW_S, self._say_slow)
        made = await asyncio.gather(*(self._make(place) for place in range(number)), return_exceptions=True)
        slow.cancel()
        refusals = [result for result in made if isinstance(result, BaseException)]
        workers = [result for result in made if isinstance(result, RemoteWorker)]
        refusal = next((error for error in refusals if not isinstance(error, WorkerGone)), None)
        if refusal is None and not workers:
            refusal = UsageError(f"no worker can be started: {refusals[0]}", where="--on")
        if refusal is not None:
            for worker in workers:
                worker.link.kill()
            raise refusal
        for worker in workers:
            self._take(worker)
        self._keep(self._watch_cluster(), "watch of the cluster")
        if refusals:
            self.context.notify(f"{len(workers)} of {number} workers started; the others: {refusals[0]}")

    def _say_slow(self) -> None:
        self.context.notify(f"{self._starting} workers are not ready after {SLOW_S:.0f} s; the cluster may be full")

    async def _watch_cluster(self) -> None:
        """End the run in order when the cluster is gone, before Ray ends the whole process a minute later."""
        why = await self._fleet.until_gone()
        self._is_cluster_gone = True
        self.context.end("halted", f"{why}: resume the run on another cluster, or without --on")
        for worker in list(self._workers):
            self._lose(worker, WorkerGone(why, is_alone=False))

    async def _make(self, place: int) -> RemoteWorker:
        """Start one worker.

        Raises:
            WorkerGone: the worker does not start.
            UsageError: the worker differs from the engine.
        """
        self._starting += 1
        try:
            link = await self._fleet.spawn()
            try:
                facts = await self._prepare(link)
                self._compare(facts)
            except TimeoutError:
                link.kill()
                raise WorkerGone(
                    f"it was not ready after {READY_S:.0f} s: is there room for it in the cluster?"
                ) from None
            except ValueError as error:
                link.kill()
                raise WorkerGone(f"it sent an invalid message: {error}") from None
            except BaseException:
                link.kill()
                raise
        finally:
            self._starting -= 1
        return RemoteWorker(link, facts, self._epoch, place)

    async def _prepare(self, link: WorkerLink) -> WorkerFacts:
        """Let a worker prepare, sending the engine's data if its own is missing or differs; return its facts."""
        async with asyncio.timeout(READY_S):
            data = await link.prepare(self._setup(), ())
        facts = msgspec.json.decode(data, type=ready_type(WorkerFacts))
        if not needs_data(self._ours, facts):
            return facts
        digest, parts = await self._sent_data.get()
        try:
            async with asyncio.timeout(DATA_S):
                data = await link.prepare(self._setup(digest), parts)
        except TimeoutError:
            raise WorkerGone(f"it did not receive the data within {DATA_S:.0f} s") from None
        facts = msgspec.json.decode(data, type=ready_type(WorkerFacts))
        if facts.has_unpacked:
            self.context.notify(f"the data of {self.manifest.suite} was sent to {facts.host}")
        return facts

    def _compare(self, facts: WorkerFacts) -> None:
        if facts.sandbox and not self._ours.sandbox:
            from console.sandbox.probe import reached_level

            self._ours = msgspec.structs.replace(self._ours, sandbox=reached_level().text)
        compare(self._ours, facts)

    def _setup(self, data_digest: str = "") -> bytes:
        user = self._prepared.data.user
        return write_setup(
            Setup(
                epoch=self._epoch,
                manifest=self.manifest,
                models=dict(self._prepared.models),
                data=str(user[0]) if user else "",
                host=self._ours.host,
                is_capped=self.is_capped,
                data_digest=data_digest,
            )
        )

    def _take(self, worker: RemoteWorker) -> None:
        self._workers.append(worker)
        self._failed_spawns = 0
        if self._pause_reason:
            worker.send(messages.PauseCalls(self._pause_reason))
        if self._is_watched:
            worker.send(messages.Watched(on=True))
        self._keep(self._listen(worker), f"connection to worker {worker.number}")
        self._ready.set()

    def _keep(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = start_task(work, name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self, worker: RemoteWorker) -> None:
        """Receive a worker's messages until it is lost."""
        try:
            while True:
                async with asyncio.timeout(SILENT_S):
                    piece = await worker.link.poll()
                for line in worker.reader.feed(piece):
                    self._receive(worker, messages.to_engine(line))
        except WorkerGone as gone:
            self._lose(worker, gone)
        except TimeoutError:
            self._lose(worker, WorkerGone(f"it has not answered for {SILENT_S:.0f} s"))
        except NotUnderstood as error:
            self._lose(worker, WorkerGone(f"it sent an invalid message: {error}"))

    def _receive(self, worker: RemoteWorker, message: messages.ToEngine) -> None:
        match message:
            case messages.Endpoints(states=states, is_suspect=is_suspect):
                worker.endpoints, worker.is_suspect = states, is_suspect
                return
            case messages.Notice(text=text):
                self.context.notify(f"worker {worker.name}: {text}")
                return
            case messages.KeeperWanted(endpoint=endpoint):
                worker.relays[endpoint] = relay = KeeperRelay(worker, endpoint, self._fleet.size)
                relay.way = self._keepers.connect(endpoint, relay)
                return
            case messages.KeeperRequest(endpoint=endpoint, message=told):
                if endpoint in worker.relays:
                    worker.relays[endpoint].tell(told)
                return
            case _:
                pass
        conversation = worker.conversations.get(message.job)
        if conversation is not None:
            conversation.receive(message)

    def _lose(self, worker: RemoteWorker, gone: WorkerGone) -> None:
        """Handle a lost worker: its conversations are reassigned, and a new worker is started."""
        if self._is_closed or worker.lost_by:
            return
        worker.lost_by, worker.is_lost_alone = str(gone) or "it is gone", gone.is_alone
        worker.link.kill()
        worker.close_relays()
        self._workers.remove(worker)
        self._lost.append(worker.state)
        if not self._workers:
            self._ready.clear()
        self.context.notify(f"worker {worker.name} is lost: {worker.lost_by}")
        for conversation in list(worker.conversations.values()):
            conversation.lose(worker)
        if not self._is_cluster_gone:
            self._keep(self._replace(worker.number), f"replacement of worker {worker.number}")

    async def _replace(self, place: int) -> None:
        lost_at = time.monotonic()
        while not (self._is_closed or self._is_cluster_gone):
            is_of_node = False
            try:
                self._take(await self._make(place))
                return
            except WorkerGone as gone:
                why, is_of_node = str(gone), not gone.is_alone
            except UsageError as refusal:
                why = str(refusal)
            except Exception as error:  # any error of the cluster's library
                why = f"{type(error).__name__}: {error}"
            if not is_of_node or time.monotonic() > lost_at + NODE_NOTICED_S:
                self._failed_spawns += 1
            if self._failed_spawns >= SPAWN_TRIES and not self._workers:
                self.context.end("halted", f"all workers are lost and none can be started: {why}")
                return
            await asyncio.sleep(RESPAWN_S)

    def next_job(self) -> int:
        """Return a new assignment number."""
        self._jobs += 1
        return self._jobs

    @property
    def has_workers(self) -> bool:
        """True if any worker can play now."""
        return bool(self._workers)

    async def least_busy(self) -> RemoteWorker:
        """Return the worker with the fewest conversations; wait for one if all are gone."""
        while not self._workers:
            await self._ready.wait()
        return min(self._workers, key=lambda worker: len(worker.conversations))

    def conversation(self, job: Job, recorded: ConversationEffects) -> "RemoteConversation":
        return RemoteConversation(job, recorded, self)

    def endpoint_states(self) -> list[EndpointState]:
        """Return the states of the workers' limiters, summed by endpoint."""
        by_name: dict[str, list[EndpointState]] = {}
        for worker in self._workers:
            for state in worker.endpoints:
                by_name.setdefault(state.name, []).append(state)
        return [_sum(states) for states in by_name.values()]

    def worker_states(self) -> list[WorkerState]:
        starting = [WorkerState(name="", state="starting") for _ in range(self._starting)]
        return [*(worker.state for worker in self._workers), *starting, *self._lost]

    @property
    def is_suspect(self) -> bool:
        return any(worker.is_suspect for worker in self._workers)

    def retry_now(self) -> None:
        self._broadcast(messages.RetryNow())

    def pause_calls(self, why: str) -> None:
        if why != self._pause_reason:
            self._pause_reason = why
            self._broadcast(messages.PauseCalls(why))

    def watch(self, on: bool) -> None:
        self._is_watched = on
        self._broadcast(messages.Watched(on))

    def _broadcast(self, message: Message) -> None:
        for worker in self._workers:
            worker.send(message)

    async def aclose(self) -> None:
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for worker in self._workers:
            if worker.conversations:  # its calls in flight may still be answered
                worker.close_relays()
            worker.link.kill()
        await self._keepers.aclose()
        self._workers.clear()


class RemoteConversation:
    """One job (see `player.PlayedConversation`), assigned until a worker has finished it."""

    def __init__(self, job: Job, recorded: ConversationEffects, player: RemotePlayer) -> None:
        self.job, self.fault = job, None
        self._player, self._context = player, player.context
        self._records: list[AnyRecord] = list(recorded.records)
        self._lost_on: list[str] = []
        """Workers that died while playing it in this session."""
        self._began = time.monotonic()
        self._number = 0
        self._worker: RemoteWorker | None = None
        self._end: asyncio.Future[Finished] | None = None
        self._requests: set[asyncio.Task[None]] = set()
        self._reserved: set[int] = set()
        """Numbers of the calls with reservations."""
        self.fault: Fault | None

    async def play(self) -> Finished:
        """Assign the job, and reassign it after every loss; see `player.PlayedConversation`."""
        while len(set(self._lost_on)) < MOST_LOSSES:
            if not self._player.has_workers:
                self._context.state(self.job.key, "waiting", "no worker is available")
            worker = await self._player.least_busy()
            try:
                return await self._play_on(worker)
            except WorkerGone as gone:
                lost = Lost(time.time(), self.job.key, worker.name, str(gone))
                if gone.is_alone:
                    self._lost_on.append(worker.name)
                self._note(lost)
        named = ", ".join(dict.fromkeys(self._lost_on))
        self.fault = Fault(
            FaultKind.WORKER,
            f"every worker that played it was lost: {named}",
            hint="This case may be crashing its workers; see their logs.",
        )
        return self.finished(broken(self.fault))

    async def _play_on(self, worker: RemoteWorker) -> Finished:
        case, key = self.job.case, self.job.key
        number = self._number = self._player.next_job()
        self._worker, self._end = worker, asyncio.get_running_loop().create_future()
        worker.conversations[number] = self
        outputs = {need: self._context.output_of(need, key.rollout) for need in case.depends_on}
        worker.send(messages.Play(number, case, key, self._records, outputs))
        try:
            return await self._end
        finally:
            worker.conversations.pop(number, None)
            if not self._end.done() or self._end.cancelled() or self._end.exception() is not None:
                worker.send(messages.Cancel(number))
            self._worker = None
            for request in list(self._requests):
                request.cancel()
            for n in list(self._reserved):
                self._release(n, is_cut=True)

    def lose(self, worker: RemoteWorker) -> None:
        self._settle(error=WorkerGone(worker.lost_by, is_alone=worker.is_lost_alone))

    def receive(self, message: messages.ToEngine) -> None:
        try:
            match message:
                case messages.Recorded(record=record):
                    self._record(record)
                case messages.KeptFiles(contents=contents):
                    self._context.keep_files(contents)
                case messages.Ended(finished=finished, fault=fault):
                    self._ended(finished, fault)
                case messages.Failed(text=text):
                    self._settle(error=RuntimeError(text))
                case messages.Reserve() | messages.WaitToRetry() | messages.PauseRun():
                    self._answer(message)
                case messages.Release(n=n):
                    self._release(n)
                case _:
                    self._show(message)
        except Exception as error:  # a record that cannot be journaled breaks this case only
            self._settle(error=error)

    def _show(self, message: messages.ToEngine) -> None:
        """Publish messages that are not journaled."""
        key, context = self.job.key, self._context
        match message:
            case messages.Proven(role=role):
                context.model_answered(role)
            case messages.Activity(state=state, why=why):
                context.state(key, state, why)
            case messages.CallBegan(frame=frame):
                context.began(msgspec.structs.replace(frame, key=key))
            case messages.CallText(n=n, kind=kind, text=text):
                context.text(key, n, kind, text)
            case _:
                pass

    def _release(self, n: int, *, is_cut: bool = False) -> None:
        self._reserved.discard(n)
        self._context.release_reservation(self.job.key, n, is_cut=is_cut)

    def _record(self, record: AnyRecord) -> None:
        if getattr(record, "key", None) != self.job.key or isinstance(record, Finished):
            raise Fault(FaultKind.INTERNAL, "a worker sent a record of another conversation")
        if isinstance(record, Asked | Embedded):
            self._worker_called()
            self._reserved.discard(record.n)
        self._note(record)
        if isinstance(record, Asked | Embedded):
            self._context.model_answered(record.role)

    def _worker_called(self) -> None:
        if self._worker is not None:
            self._worker.calls += 1

    def _note(self, record: AnyRecord) -> None:
        self._records.append(record)
        self._context.append(record)

    def _ended(self, finished: Finished, fault: messages.FaultFacts | None) -> None:
        if finished.key != self.job.key:
            raise Fault(FaultKind.INTERNAL, "a worker sent a verdict on another conversation")
        self.fault = fault.fault() if fault else None
        seconds = round(time.monotonic() - self._began, 6)
        if self._end is not None and not self._end.done():
            self._end.set_result(msgspec.structs.replace(finished, seconds=seconds))

    def _settle(self, error: Exception) -> None:
        if self._end is not None and not self._end.done():
            self._end.set_exception(error)

    def _answer(self, message: messages.Reserve | messages.WaitToRetry | messages.PauseRun) -> None:
        task = start_task(self._grant(message), f"request of {self.job.key}")
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)

    async def _grant(self, message: messages.Reserve | messages.WaitToRetry | messages.PauseRun) -> None:
        key = self.job.key
        try:
            match message:
                case messages.Reserve(n=n, usd=usd, tokens=tokens, is_limited=is_limited, role=role):
                    await self._context.reserve(key, n, WorstCase(usd, tokens, is_limited, role))
                    self._reserved.add(n)
                case messages.WaitToRetry(seconds=seconds):
                    await self._context.wait_to_retry(key, seconds)
                case messages.PauseRun(fault=fault):
                    await self._context.pause_run(key, fault.fault())
        except BudgetReached as reached:
            self._settle(error=reached)
            return
        if self._worker is not None:
            self._worker.send(messages.Answer(message.job, message.call))

    def finished(self, verdict: Verdict) -> Finished:
        calls = [record for record in self._records if isinstance(record, Asked)]
        embedded = [record for record in self._records if isinstance(record, Embedded)]
        facts, usages = self._context.facts, [call.reply.usage for call in calls if call.reply.usage]
        costs = [cost_of(call.reply, facts(call.role)) for call in calls]
        costs += [cost_of_embedding(record, facts(record.role)) for record in embedded]
        prices = [cost for cost in costs if cost is not None]
        return Finished(
            at=time.time(),
            key=self.job.key,
            verdict=verdict,
            seconds=round(time.monotonic() - self._began, 6),
            input_tokens=sum(usage.input for usage in usages) + sum(record.tokens or 0 for record in embedded),
            output_tokens=sum(usage.output for usage in usages),
            cost_usd=sum(prices) if len(prices) == len(costs) else None,
            calls=len(calls),
            model=next((call.reply.model for call in reversed(calls) if call.role == "model"), ""),
        )


def _sum(states: Sequence[EndpointState]) -> EndpointState:
    pauses = [state.paused_until for state in states if state.paused_until is not None]
    return EndpointState(
        name=states[0].name,
        in_flight=sum(state.in_flight for state in states),
        limit=sum(state.limit for state in states),
        waiting=sum(state.waiting for state in states),
        paused_until=max(pauses) if pauses else None,
        why=next((state.why for state in states if state.why), ""),
        throttled=sum(state.throttled for state in states),
        faults_in_a_row=max(state.faults_in_a_row for state in states),
        is_slowed=any(state.is_slowed for state in states),
        is_batched=any(state.is_batched for state in states),
    )


def _host() -> str:
    import socket

    return socket.gethostname()
