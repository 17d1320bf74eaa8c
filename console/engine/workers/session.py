"""The worker's side of distributed runs: plays conversations like the engine and streams all events back.

It holds no durable state: when a worker dies, another one gets the records that have arrived.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import msgspec

from console.config.models import key_state
from console.config.paths import DataRoots, find_data_roots
from console.config.secrets import redactor_for
from console.core.case import Case, Key
from console.core.chat import ChatRequest
from console.core.fault import Fault, UsageError
from console.core.live import Began
from console.core.record import AnyRecord
from console.core.run import ModelFacts
from console.engine.background import start_task
from console.engine.budget import worst_case
from console.engine.endpoints import Endpoints
from console.engine.journal_door import JournalDoor, RecordT
from console.engine.local_conversation import LocalConversation, cancelled_by_code
from console.engine.plan import program_versions, weights_digests, weights_folder
from console.engine.queue import Job
from console.engine.recorded_effects import ConversationEffects
from console.engine.workers import messages
from console.engine.workers.data_copy import unpack_once
from console.engine.workers.messages import (
    LineReader,
    LineWriter,
    Message,
    Piece,
    Setup,
    WorkerFacts,
    read_setup,
    to_worker,
)
from console.engine.workers.preflight import digest_of
from console.llm.endpoint import Endpoint
from console.llm.limits.limiter import LIMITERS
from console.llm.limits.share import LimitShare
from console.suites.allowed import NotAllowed
from console.suites.catalog import Catalog
from console.suites.selection import select_planned
from console.suites.suite import Suite

BATCH_S = 0.05
"""Longest time, in seconds, for which events are collected before they are sent."""
SOON_S = 0.002
"""Longest time, in seconds, for which events are collected while a request is waiting."""
POLL_S = 1.0
"""Seconds after which the engine gets an empty answer as a heartbeat."""
ABANDONED_S = 120.0
"""Seconds without a poll after which the engine counts as gone and no more is spent."""
STATES_S = 0.5
"""Seconds between sending the limiters' states."""


class WorkerSession:
    """Plays conversations of one run for a remote engine."""

    def __init__(self) -> None:
        self._setup: Setup | None = None
        self.suite: Suite | None = None
        """The prepared run; None until it is ready."""
        self._jobs: dict[int, asyncio.Task[None]] = {}
        self._cancelled: set[int] = set()
        self._contexts: dict[int, WorkerContext] = {}
        self._activities: dict[int, messages.Activity] = {}
        self._awake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._sent_at = self._states_at = self.polled_at = 0.0

    @property
    def name(self) -> str:
        """Node and process."""
        return f"{socket.gethostname()}/{os.getpid()}"

    def prepare(self, data: bytes, parts: Iterable[bytes] = ()) -> bytes:
        """Prepare for a run and report what is available; called again with the engine's data if needed.

        Args:
            data: a `Setup`.
            parts: the packed data, if named by the setup; only consumed if the node's cache lacks it.

        Returns:
            `WorkerFacts`, including what is missing.
        """
        setup = read_setup(data)
        self._setup = None
        facts = WorkerFacts(self.name, socket.gethostname(), program_versions())
        try:
            try:
                setup, roots, facts = _find_data(setup, parts, facts)
                suite, cases = _open(setup, roots)
            except NotAllowed:
                raise
            except UsageError as error:
                return msgspec.json.encode(msgspec.structs.replace(facts, missing=str(error), lacks_data=True))
            return msgspec.json.encode(self._get_ready(setup, suite, cases, facts))
        except UsageError as error:
            return msgspec.json.encode(msgspec.structs.replace(facts, missing=str(error)))

    def _get_ready(self, setup: Setup, suite: Suite, cases: list[Case], facts: WorkerFacts) -> WorkerFacts:
        manifest = setup.manifest
        weights = weights_digests(weights_folder(setup.models, suite, cases))
        if manifest.weights and not weights:
            return msgspec.structs.replace(
                facts,
                lacks_data=True,
                missing="the weights of the local embedding model are missing\n  Run `eval-console pull minilm` there.",
            )
        for role, model in setup.models.items():
            state = key_state(model)
            if not state.ready:
                raise UsageError(
                    f"no key for the {role} {model.name}: {state.text}",
                    hint="Set the variable on that node before Ray is started there; keys never go through Ray.",
                )
        suite.check_needs(cases, manifest.setting)
        self._setup, self.suite = setup, suite
        self.models, self.endpoints = setup.models, Endpoints(setup.models, manifest)
        self.door = JournalDoor(redactor_for(setup.models.values()))
        self._reader, self._writer = LineReader(setup.epoch), LineWriter(setup.epoch)
        self.pause_reason = ""
        self.may_call = asyncio.Event()
        self.may_call.set()
        self.is_watched = False
        self.is_capped = setup.is_capped
        self.proven: set[str] = set()
        self._shares: dict[str, LimitShare] = {}
        LIMITERS.share_with_others = self._share
        self.polled_at = time.monotonic()
        return msgspec.structs.replace(
            facts,
            dataset={"name": suite.entry.name, **suite.entry.source},
            cases=digest_of(cases),
            weights=weights,
            sandbox="" if facts.host == setup.host else _sandbox_text(),
        )

    def deliver(self, piece: Piece) -> None:
        """Receive part of the engine's stream.

        Raises:
            NotUnderstood: the piece is of another engine, or invalid.
        """
        for line in self._reader.feed(piece):
            self._receive(to_worker(line))

    async def poll(self) -> Piece:
        """Return the events since the last call, as soon as there are any and at most `BATCH_S` later."""
        self.polled_at = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._awake.wait()
        wait = self._sent_at + BATCH_S - time.monotonic()
        if wait > 0 and not self._hurry.is_set() and len(self._writer) < messages.PIECE_BYTES:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._hurry.wait()
                await asyncio.sleep(SOON_S)
        now = self.polled_at = self._sent_at = time.monotonic()
        for activity in self._activities.values():
            self._writer.add(activity)
        self._activities.clear()
        if now - self._states_at >= STATES_S:
            self._states_at = now
            self._writer.add(messages.Endpoints(self.endpoints.states(), self.endpoints.are_suspect))
        piece = self._writer.pop_piece()
        if not len(self._writer):
            self._awake.clear()
            self._hurry.clear()
        return piece

    def send(self, message: Message, *, soon: bool = False) -> None:
        """Send a message with the next batch, or with an early one if `soon`."""
        self._writer.add(message)
        self._awake.set()
        if soon:
            self._hurry.set()

    def _share(self, endpoint: str, share: LimitShare) -> None:
        """Request a share of an endpoint's limits from its keeper on the engine's machine."""
        self._shares[endpoint] = share
        self.send(messages.KeeperWanted(endpoint), soon=True)

    def _update_share(self, message: messages.KeeperFound | messages.KeeperAnswer | messages.KeeperGone) -> None:
        endpoint = message.endpoint
        share = self._shares.get(endpoint)
        match message:
            case _ if share is None:
                pass
            case messages.KeeperFound():
                share.connected(lambda message: self.send(messages.KeeperRequest(endpoint, message), soon=True))
            case messages.KeeperAnswer(message=answer):
                share.received(answer)
            case messages.KeeperGone(processes=processes):
                share.alone(processes)

    def note_activity(self, activity: messages.Activity) -> None:
        """Send a conversation's state; if a batch has several, the last one counts."""
        self._activities[activity.job] = activity
        self._awake.set()

    def _receive(self, message: messages.ToWorker) -> None:
        match message:
            case messages.Play():
                self._jobs[message.job] = start_task(self._play(message), str(message.key))
            case messages.Cancel(job=job):
                if job in self._jobs:
                    self._cancelled.add(job)
                    self._jobs[job].cancel()
            case messages.Answer(job=job, call=call):
                if job in self._contexts:
                    self._contexts[job].answered(call)
            case messages.PauseCalls(why=why):
                self.pause_reason = why
                (self.may_call.clear if why else self.may_call.set)()
            case messages.Watched(on=on):
                self.is_watched = on
            case messages.RetryNow():
                self.endpoints.retry_now()
            case messages.KeeperFound() | messages.KeeperAnswer() | messages.KeeperGone():
                self._update_share(message)

    async def _play(self, play: messages.Play) -> None:
        assert self._setup is not None
        assert self.suite is not None
        context = self._contexts[play.job] = WorkerContext(self, play)
        recorded = ConversationEffects()
        job = Job(play.case, play.key)
        conversation = LocalConversation(job, recorded, context, self.suite, self._setup.manifest)
        try:
            for record in play.records:
                recorded.add(record)
            finished = await conversation.play()
            fault = messages.FaultFacts.of(conversation.fault) if conversation.fault else None
            self.send(messages.Ended(play.job, finished, fault), soon=True)
        except asyncio.CancelledError as error:
            if play.job not in self._cancelled:  # else its result is no longer needed
                finished = conversation.finished(cancelled_by_code(error, self.suite))
                self.send(messages.Ended(play.job, finished, None), soon=True)
        except Exception as error:  # an internal error: the engine records the outcome
            self.send(messages.Failed(play.job, f"{type(error).__name__}: {error}"[:400]), soon=True)
        finally:
            self._activities.pop(play.job, None)
            self._contexts.pop(play.job, None)
            self._jobs.pop(play.job, None)
            self._cancelled.discard(play.job)

    @property
    def is_abandoned(self) -> bool:
        """True if the engine has not polled for too long."""
        return self._setup is not None and time.monotonic() - self.polled_at > ABANDONED_S


class WorkerContext:
    """Implements `EngineContext` for a conversation, over the stream."""

    def __init__(self, session: WorkerSession, play: messages.Play) -> None:
        self._session, self._job, self._outputs = session, play.job, play.outputs
        self._calls = 0
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._kept: set[str] = set()
        """References to files whose bytes the engine already has."""

    def answered(self, call: int) -> None:
        """Complete a request granted by the engine."""
        waiting = self._waiting.get(call)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def _request(self, make: Callable[[int], Message]) -> None:
        self._calls += 1
        call = self._calls
        self._waiting[call] = asyncio.get_running_loop().create_future()
        self._session.send(make(call), soon=True)
        try:
            await self._waiting[call]
        finally:
            del self._waiting[call]

    def admit(self, record: RecordT) -> RecordT:
        return self._session.door.admit(record)

    def append(self, record: AnyRecord) -> None:
        self._session.send(messages.Recorded(self._job, self.admit(record)))

    def keep_files(self, contents: Mapping[str, bytes]) -> None:
        new = {reference: data for reference, data in contents.items() if reference not in self._kept}
        if new:
            self._kept |= new.keys()
            self._session.send(messages.KeptFiles(self._job, new))

    def endpoint(self, role: str) -> Endpoint:
        return self._session.endpoints.of(role)

    def facts(self, role: str) -> ModelFacts:
        return self._session.endpoints.facts(role)

    def began(self, frame: Began) -> None:
        if self._session.is_watched:
            self._session.send(messages.CallBegan(self._job, frame), soon=True)

    def text(self, key: Key, n: int, kind: str, text: str) -> None:
        del key
        if self._session.is_watched:
            self._session.send(messages.CallText(self._job, n, kind, text))

    def state(self, key: Key, state: str, why: str = "") -> None:
        del key
        self._session.note_activity(messages.Activity(self._job, state, why))

    def model_answered(self, role: str) -> None:
        """Report the first answer only; later ones are known from the records of calls."""
        if role not in self._session.proven:
            self._session.proven.add(role)
            self._session.send(messages.Proven(self._job, role), soon=True)

    async def wait_while_paused(self, key: Key) -> None:
        while self._session.pause_reason:
            self.state(key, "waiting", self._session.pause_reason)
            await self._session.may_call.wait()

    async def before_call(self, key: Key, n: int, request: ChatRequest, role: str) -> None:
        await self.wait_while_paused(key)
        if self._session.is_capped:
            call = worst_case(request, self.facts(role), role)
            await self._request(partial(messages.Reserve, self._job, n=n, **call._asdict()))

    async def wait_to_retry(self, key: Key, seconds: float) -> None:
        await self._request(partial(messages.WaitToRetry, self._job, seconds=seconds))
        await self.wait_while_paused(key)

    async def pause_run(self, key: Key, fault: Fault) -> None:
        del key
        await self._request(partial(messages.PauseRun, self._job, fault=messages.FaultFacts.of(fault)))

    def release_reservation(self, key: Key, n: int) -> None:
        del key
        if self._session.is_capped:
            self._session.send(messages.Release(self._job, n))

    def output_of(self, case_id: str, rollout: int) -> Any:
        del rollout  # only outputs of the same rollout were sent
        return self._outputs.get(case_id)


def _find_data(setup: Setup, parts: Iterable[bytes], facts: WorkerFacts) -> tuple[Setup, DataRoots, WorkerFacts]:
    """Return the data folders: this node's own, or the engine's data, unpacked here."""
    if not setup.data_digest:
        return setup, find_data_roots(setup.data or None), facts
    folder, is_new = unpack_once(setup.data_digest, parts)
    models = {
        role: msgspec.structs.replace(model, data=folder) if model.provider == "local" else model
        for role, model in setup.models.items()
    }
    roots = DataRoots(bundled=folder, pulled=folder, user=(folder,))
    return msgspec.structs.replace(setup, models=models), roots, msgspec.structs.replace(facts, has_unpacked=is_new)


def _open(setup: Setup, roots: DataRoots) -> tuple[Suite, list[Case]]:
    suite = Catalog(roots).open(setup.manifest.suite)
    manifest = setup.manifest
    return suite, select_planned(suite, manifest.selection, manifest.setting, manifest.truths)


def _sandbox_text() -> str:
    from console.sandbox.probe import reached_level

    return reached_level().text
