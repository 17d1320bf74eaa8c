"""Calls of a run through batch APIs: gathered while conversations wait, submitted together, and polled.

A batch is journaled before it is submitted, and its id before it is waited for. After a kill, a batch whose submission
was not confirmed is searched for at the provider for a while, as it may not be listed yet, and repeated calls wait for
the batch that contains them: none is paid for twice. Only a call that its batch did not answer goes into another one.
The calls of a batch that the provider no longer has are sent again only if the user has asked for that.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import msgspec

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.core.live import EndpointState
from console.core.record import AnyRecord, Batched, call_name
from console.core.wait import batch_words
from console.engine.background import start_task, stop
from console.engine.recorded_batches import RecordedBatches, name_of
from console.llm.balancer import Balancer
from console.llm.batches import BatchAnswer, BatchClient, BatchState, is_gone
from console.llm.endpoint import Endpoint, Watch
from console.llm.providers import open_endpoint
from console.llm.retry import ask_until_answered

_GATHER_S = 0.25
"""Seconds between checks whether all conversations wait, so that no further call can be expected."""
_SOONEST_POLL_S, _LATEST_POLL_S = 0.2, 60.0
_POLL_SHARE = 0.1
"""Seconds until the next poll, as a share of the batch's age."""
_IN_BATCH = "in a batch"
"""State of a conversation in a batch; the batch's own progress is shown once for the run."""
_LOOKING = "looking for a batch that may have been submitted"
LISTED_S = 60.0
"""Seconds for which a provider may fail to list a batch that it has accepted."""
_STAYS = "The batch stays at the provider: resume the run to fetch its answers."
_LIMITED_S = 60.0
"""Seconds before a single call refused by the provider's limit on queued tokens is submitted again."""
AnswerT = TypeVar("AnswerT")


class BatchHost(Protocol):
    """The parts of the engine that batches use."""

    @property
    def run_id(self) -> str: ...

    @property
    def batches(self) -> RecordedBatches:
        """Batches of earlier sessions."""
        ...

    @property
    def all_wait(self) -> bool:
        """True if every conversation waits, no other can start, and calls are allowed."""
        ...

    async def append_durably(self, record: AnyRecord) -> None:
        """Journal a record, and return once it is on disk."""
        ...

    def end(self, reason: str, message: str = "") -> None:
        """Start nothing more; waiting conversations remain resumable."""
        ...


@dataclass(slots=True, eq=False)
class _Call:
    """A request that waits for its answer."""

    name: str
    request: ChatRequest
    body: dict[str, Any]
    watch: Watch
    answer: "asyncio.Future[Reply]"


@dataclass(slots=True, eq=False)
class _Batch:
    """A planned or submitted batch."""

    record: Batched
    calls: dict[str, _Call | None]
    """Unanswered calls by id; None while no conversation waits for answers."""
    ids: frozenset[str]
    """Ids of all its calls."""
    is_recorded: bool = False
    """True if an earlier session planned it."""

    @property
    def waiting(self) -> list[_Call]:
        return [call for call in self.calls.values() if call is not None and not call.answer.done()]

    def tell(self, words: str) -> None:
        """Update the state of all waiting conversations."""
        for call in self.waiting:
            call.watch.on_wait(words, None)


class _BatchWatch(Watch):
    """Watches requests about a batch on behalf of the conversations that wait for it."""

    def __init__(self, batch: _Batch) -> None:
        self._batch = batch

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        self._batch.tell(f"{_IN_BATCH} · {fault.message}")

    async def pause_run(self, fault: Fault) -> None:
        await asyncio.sleep(fault.retry_after_s or _LATEST_POLL_S)


class BatchedEndpoint:
    """A model whose calls go through its provider's batch API; embeddings are sent one by one."""

    def __init__(self, model: ModelConfig, host: BatchHost) -> None:
        """Continue the batches of earlier sessions."""
        self._model, self._host = model, host
        self._client = BatchClient(model)
        self._balancer = Balancer([("", self._client.limiter)])
        self._direct: Endpoint | None = None
        self._gathered: dict[str, _Call] = {}
        self._gatherer: asyncio.Task[None] | None = None
        self._most = self._client.api.most_requests
        self._is_limited = False
        """True once the provider's limit on queued tokens refused a batch; batches are then submitted one at a time."""
        self._polls_now = asyncio.Event()
        recorded = host.batches.of(model.name)
        self._batches = [
            _Batch(batch, dict.fromkeys(calls), frozenset(batch.calls), is_recorded=True) for batch, calls in recorded
        ]
        self._unclaimed: defaultdict[str, deque[tuple[_Batch, str]]] = defaultdict(deque)
        for batch in self._batches:
            for call in batch.calls:
                self._unclaimed[name_of(call)].append((batch, call))
        self._tasks = {start_task(self._follow(batch), f"batch {batch.record.name}") for batch in self._batches}

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        """Return the answer of a batch; a request that its batch did not answer goes into another one.

        Raises:
            Fault: the provider refuses the request, or several batches did not answer it.
        """
        body = self._client.body(request)
        self._client.line("", body)  # an unsendable request is refused now
        name = call_name(self._host.run_id, request.name)
        for number in count(1):
            call = _Call(name, request, body, watch, asyncio.get_running_loop().create_future())
            self._enter(call)
            try:
                reply = await call.answer
                return reply if number == 1 else msgspec.structs.replace(reply, tries=number)
            except Fault as fault:
                gives_up = not fault.is_retryable or number >= self._model.limits.max_tries
                watch.on_failed_try(fault, None if gives_up else 0.0)
                if gives_up:
                    raise
            finally:
                call.answer.cancel()
        raise AssertionError

    def _enter(self, call: _Call) -> None:
        """Attach a call to the batch that contains it, or gather it for the next one."""
        unclaimed = self._unclaimed.get(call.name)
        while unclaimed:
            batch, number = unclaimed.popleft()
            if number in batch.calls and batch in self._batches:
                batch.calls[number] = call
                call.watch.on_wait(_IN_BATCH, None)
                return
        number = next(number for n in count() if (number := f"{call.name}-{n}") not in self._gathered)
        self._gathered[number] = call
        call.watch.on_wait("gathered for the next batch", None)
        if self._gatherer is None or self._gatherer.done():
            self._gatherer = start_task(self._gather(), f"batches of {self._model.name}")

    async def _gather(self) -> None:
        """Submit the gathered calls whenever no more can be expected."""
        while self._gathered:
            await asyncio.sleep(_GATHER_S)
            self._gathered = {number: call for number, call in self._gathered.items() if not call.answer.done()}
            if self._host.all_wait and not (self._is_limited and self._batches):
                self._submit_gathered()

    def _submit_gathered(self) -> None:
        """Plan batches within the provider's limits, and submit them."""
        lines: dict[str, bytes] = {}
        size = 0
        for number, call in list(self._gathered.items()):
            line = self._client.line(number, call.body)
            if lines and (len(lines) >= self._most or size + len(line) > self._client.api.most_bytes):
                self._submit(lines)
                lines, size = {}, 0
                if self._is_limited:
                    return
            lines[number] = line
            size += len(line) + 1
        if lines:
            self._submit(lines)

    def _submit(self, lines: dict[str, bytes]) -> None:
        calls: dict[str, _Call | None] = {number: self._gathered.pop(number) for number in lines}
        now = time.time()
        record = Batched(now, uuid4().hex, self._model.name, len(calls), calls=tuple(calls), planned_at=now)
        batch = _Batch(record, calls, frozenset(calls))
        self._batches.append(batch)
        self._tasks.add(task := start_task(self._follow(batch, list(lines.values())), f"batch {record.name}"))
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, batch: _Batch, lines: Sequence[bytes] = ()) -> None:
        """Submit a batch, wait for its end, and hand out its answers.

        A provider fault that is not temporary ends the run; when resumed, it continues the batch.
        """
        try:
            if not batch.record.id and not await self._find_or_submit(batch, lines):
                await self._end(batch, "not submitted")
                return
            try:
                state = await self._until_ended(batch)
                if state.ended != "failed" or state.files:
                    await self._hand_out(batch, state)
            except Fault as fault:
                if not is_gone(fault):
                    fault.hint = f"{fault.hint} {_STAYS}".strip() if fault.status else fault.hint
                    raise
                await self._say_missing(batch, fault)
                await self._end(batch, "missing")
                return
            await self._end_with(batch, state)
        except Fault as fault:
            self._host.end("halted", f"{batch_words([batch.record])}: {fault.advice}")
        finally:
            self._batches.remove(batch)

    async def _find_or_submit(self, batch: _Batch, lines: Sequence[bytes]) -> bool:
        """Return whether the provider has the batch, submitting it again only if it certainly does not."""
        others = {other.record.id for other in self._batches}
        may_exist, file = batch.is_recorded, ""
        if not may_exist:
            batch.tell("submitting a batch")
            await self._host.append_durably(batch.record)
        elif not batch.record.submitted_at:
            return False
        while True:
            if may_exist and (state := await self._find(batch, others)) is not None:
                await self._submitted(batch, state)
                return True
            if batch.is_recorded:
                return False
            try:
                file = file or await self._persist(batch, lambda: self._client.upload(lines))
                await self._submitted(batch, await self._once(batch, partial(self._create, batch, file, lines)))
                return True
            except Fault as fault:
                if not fault.is_retryable or fault.is_of_endpoint:
                    raise
                batch.tell(f"submitting a batch · {fault.message}")
                may_exist = True

    async def _create(self, batch: _Batch, file: str, lines: Sequence[bytes]) -> BatchState:
        await self._step(batch, submitted_at=time.time())
        return await self._client.create(batch.record.name, file, lines)

    async def _find(self, batch: _Batch, others: set[str]) -> BatchState | None:
        """Return a batch whose submission was not confirmed, or None if the provider does not have it.

        Providers may list a batch only a while after accepting it.
        """
        while True:
            for state in await self._candidates(batch):
                if state.id not in others and (same := await self._identified(batch, state)) is not None:
                    return same
                others.add(state.id)
            if time.time() >= batch.record.submitted_at + LISTED_S:
                return None
            batch.tell(_LOOKING)
            await self._pause(batch)

    async def _candidates(self, batch: _Batch) -> list[BatchState]:
        """Return the batches at the provider that may be this one."""
        record = batch.record
        try:
            return await self._persist(
                batch, lambda: self._client.candidates(record.name, record.planned_at, record.total)
            )
        except Fault as fault:
            if not is_gone(fault):
                raise
            await self._ask_to_resubmit(
                batch,
                "this address lists no batches, so whether it has this one is unknown",
                f"Look at the provider for a batch of {record.total:,} calls: if it is not there,",
            )
            return []

    async def _identified(self, batch: _Batch, state: BatchState) -> BatchState | None:
        """Return the state of a batch at the provider if it is this one; without a name, only answers identify it."""
        try:
            while not (state.name or state.ended):
                batch.tell(_LOOKING)
                await self._pause(batch)
                state = await self._persist(batch, partial(self._client.state, state.id))
            is_same = bool(state.name) or await self._persist(batch, partial(self._is, batch, state))
        except Fault as fault:
            if not is_gone(fault):
                raise
            await self._say_missing(batch, fault)
            return None
        return state if is_same else None

    async def _is(self, batch: _Batch, state: BatchState) -> bool:
        """Return whether an ended batch has answers to the calls of this one."""
        names = {name_of(call) for call in batch.calls}
        async for answer in self._client.answers(state):
            if answer is not None:
                return name_of(answer.call) in names
        return False

    async def _submitted(self, batch: _Batch, state: BatchState) -> None:
        now = time.time()
        await self._step(batch, id=state.id, submitted_at=min(state.created_at or now, now))
        batch.tell(_IN_BATCH)

    async def _step(self, batch: _Batch, **fields: Any) -> None:
        """Journal the next step of a batch."""
        batch.record = msgspec.structs.replace(batch.record, at=time.time(), calls=(), **fields)
        await self._host.append_durably(batch.record)

    async def _until_ended(self, batch: _Batch) -> BatchState:
        while True:
            state = await self._persist(batch, lambda: self._client.state(batch.record.id))
            if state.done != batch.record.done or state.ended:
                batch.record = msgspec.structs.replace(batch.record, at=time.time(), done=state.done)
                if not state.ended:
                    await self._host.append_durably(batch.record)
            if state.ended:
                return state
            await self._pause(batch)

    async def _hand_out(self, batch: _Batch, state: BatchState) -> None:
        """Hand out the answers of an ended batch once all have been read."""
        seconds = max(0.0, time.time() - batch.record.submitted_at)
        for answer in await self._read_answers(batch, state):
            call = batch.calls.pop(answer.call)
            if call is not None:
                self._answer(call, answer, seconds)

    async def _read_answers(self, batch: _Batch, state: BatchState) -> list[BatchAnswer]:
        """Return the answers to the calls of a batch.

        Answers that are damaged or fewer than announced are read a second time; calls that then have no answer, or two
        different ones, count as unanswered.
        """
        answers: dict[str, BatchAnswer | None] = {}
        answered, damage, was_damaged = set[str](), "", False

        async def read() -> None:
            nonlocal damage, was_damaged
            answers.clear()
            answered.clear()
            damage = ""
            try:
                async for answer in self._client.answers(state):
                    if answer is None:
                        damage = "an answer of the batch is unreadable"
                        continue
                    answered.update({answer.call} & batch.ids)
                    if answer.call in batch.calls and answer.missing != "cancelled":
                        is_only = answers.get(answer.call, answer) == answer
                        answers[answer.call] = answer if is_only else None
            except Fault as fault:
                if fault.kind is not FaultKind.BAD_ANSWER:
                    raise
                damage = fault.message
            if len(answered) < state.done:
                damage = damage or f"there are {len(answered):,} of {state.done:,}"
            if damage and not was_damaged:
                was_damaged = True
                raise Fault(FaultKind.BAD_ANSWER, damage)

        await self._persist(batch, read)
        if not answered and (damage or state.ended == "completed"):
            words = f"its answers cannot be read: {damage or 'there are none'}"
            await self._ask_to_resubmit(batch, words, "Resume the run to read them again, at no cost;")
        return [answer for answer in answers.values() if answer is not None]

    def _answer(self, call: _Call, answer: BatchAnswer, seconds: float) -> None:
        if call.answer.done():
            return
        try:
            call.answer.set_result(self._client.reply(answer, call.request, seconds))
        except Fault as fault:
            call.answer.set_exception(fault)

    async def _end_with(self, batch: _Batch, state: BatchState) -> None:
        """End a batch, and handle the calls that it did not answer."""
        left, words = batch.waiting, batch_words([batch.record])
        if state.ended == "cancelled" and left:
            await self._end(batch, state.ended)
            hint = f"Resume the run to ask the other {len(left):,} calls again."
            raise Fault(FaultKind.CANCELLED, "it was cancelled at the provider", hint=hint)
        if state.is_over_token_limit:
            self._is_limited, self._most = True, max(1, batch.record.total // 2)
            batch.tell(f"the provider's limit of tokens in batches: {self._most:,} calls at a time")
            if batch.record.total == 1:
                await asyncio.sleep(_LIMITED_S)
            await self._end(batch, state.ended)
            return
        refused = {line: error for line, error in state.errors if line is not None}
        if state.ended == "failed" and not refused:
            await self._end(batch, state.ended)
            why = "; ".join(error.message for _, error in state.errors) or "no reason is given"
            raise Fault(FaultKind.BAD_REQUEST, f"the provider refused it: {why}")
        refused = {} if batch.is_recorded else refused  # their lines are no longer known
        numbers = {id(call): number for number, call in enumerate(batch.calls.values(), 1)}
        for call in left:
            if (error := refused.get(numbers[id(call)])) is not None:
                fault = Fault(FaultKind.BAD_REQUEST, error.message)
            elif state.ended == "expired":
                fault = Fault(FaultKind.DEADLINE, f"{words}: it expired before this request was answered")
            else:
                fault = Fault(FaultKind.BAD_ANSWER, f"{words}: it ended without an answer to this request")
            call.answer.set_exception(fault)
        await self._end(batch, state.ended)

    async def _say_missing(self, batch: _Batch, fault: Fault) -> None:
        await self._ask_to_resubmit(
            batch,
            f"the provider has no such batch for this key, or no longer has its results ({fault.message})",
            "If key or address changed, restore them and resume the run to fetch its answers. Otherwise",
        )

    async def _ask_to_resubmit(self, batch: _Batch, words: str, hint: str) -> None:
        """Return if the user, told by an earlier session, has asked to send the calls again; otherwise end the run."""
        if batch.record.missing and batch.is_recorded and self._host.batches.resubmits:
            return
        await self._step(batch, missing=True)
        command = f"`eval-console resume {self._host.run_id} --resubmit`"
        hint += f" {command} sends its {len(batch.calls):,} calls again, which costs as much again."
        raise Fault(FaultKind.NOT_FOUND, words, hint=hint)

    async def _end(self, batch: _Batch, why: str) -> None:
        """Journal the end of a batch, after its answers; calls that still wait are gathered again."""
        await asyncio.sleep(0)  # conversations with answers journal them first
        await self._step(batch, ended=why)
        left, batch.calls = batch.waiting, {}
        if why != "cancelled":
            for call in left:
                self._enter(call)

    async def _persist(self, batch: _Batch, action: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        """Return the result of a request about a batch, repeated until the provider answers.

        Raises:
            Fault: the provider refuses it, has never answered, or is down for too long.
        """
        while True:
            try:
                return await self._once(batch, action, tries=self._model.limits.max_tries)
            except Fault as fault:
                if not fault.is_retryable or fault.is_of_endpoint:
                    raise
                batch.tell(f"{_IN_BATCH} · {fault.message}")
                await asyncio.sleep(_LATEST_POLL_S)

    async def _once(self, batch: _Batch, action: Callable[[], Awaitable[AnswerT]], tries: int = 1) -> AnswerT:
        """Return the result of a request about a batch; repeat it after a rate limit or a few other faults."""
        limits = msgspec.structs.replace(self._model.limits, max_tries=tries)
        result, _ = await ask_until_answered(lambda this_try: action(), self._balancer, limits, _BatchWatch(batch))
        return result

    async def _pause(self, batch: _Batch) -> None:
        """Wait until the next poll, or until the user requests one."""
        try:
            async with asyncio.timeout(self._poll_s(batch)):
                await self._polls_now.wait()
        except TimeoutError:
            return

    def _poll_s(self, batch: _Batch) -> float:
        age = time.time() - batch.record.planned_at
        return min(_LATEST_POLL_S, max(_SOONEST_POLL_S, age * _POLL_SHARE))

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        self._direct = self._direct or open_endpoint(self._model)
        return await self._direct.embed(texts, watch)

    def states(self) -> list[EndpointState]:
        """Return one state for all batches: calls in them, gathered calls, and the reason for waiting."""
        waiting = sum(len(batch.waiting) for batch in self._batches)
        words = batch_words([batch.record for batch in self._batches])
        gathered = len(self._gathered)
        return [EndpointState(self._model.name, in_flight=waiting, waiting=gathered, why=words, is_batched=True)]

    def retry_now(self) -> None:
        """Poll all batches now."""
        self._balancer.retry_now()
        self._polls_now.set()
        self._polls_now.clear()

    async def aclose(self) -> None:
        """Stop waiting; submitted batches continue at the provider."""
        await stop(self._gatherer, *self._tasks)
        await self._client.aclose()
        if self._direct is not None:
            await self._direct.aclose()
