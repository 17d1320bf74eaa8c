"""The stage of one conversation: each effect is replayed from the journal, or performed, journaled and returned."""

import struct
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, TypeVar, cast

import msgspec

from console.core.case import Key
from console.core.chat import ChatRequest, Message, Reply, ScriptedAnswers, ToolCall
from console.core.experiment import OPENING, REPLY, Applied, Arm, Beginning, Request
from console.core.fault import Fault, FaultKind
from console.core.live import Began
from console.core.media import MediaReference, kept_apart, with_contents
from console.core.record import AnyRecord, Asked, Embedded, Noted, Performed, Scored, Tried
from console.core.request import digest
from console.core.run import Manifest
from console.core.symptoms import Symptoms
from console.core.wait import wait_words
from console.engine.journal_door import check_request
from console.engine.recorded_effects import JUDGES, ConversationEffects, Effect
from console.llm.endpoint import Endpoint, Watch
from console.suites.guard import SuiteError
from console.suites.stage import Stage
from console.suites.suite import AFTER_REPLY

EffectT = TypeVar("EffectT", bound=Effect)
RecordT = TypeVar("RecordT", bound=AnyRecord)
AnswerT = TypeVar("AnswerT")


class Unanswered(Fault):
    """Raised if a conversation that repeats a recorded one makes a request without a recorded answer."""

    def __init__(self, words: str, asks: list[Any], asked: list[Any]) -> None:
        """Store the name of the unavailable action, the request, and its role's last request in the earlier play."""
        words = f"cannot be {words}: it makes a request that was never answered"
        super().__init__(FaultKind.UNANSWERED, words, hint="Play the case again with `eval-console branch` or `run`.")
        same = next((number for number, pair in enumerate(zip(asks, asked, strict=False)) if pair[0] != pair[1]),
                    min(len(asks), len(asked)))  # fmt: skip
        self.detail = {"asks": asks[same:], "asked": asked[same:]}
        """Both requests as text, starting at their first difference."""


class StageContext(Protocol):
    """The parts of the engine that a stage needs."""

    def admit(self, record: RecordT) -> RecordT:
        """Return a record as readers of the journal will see it, or raise a SuiteError (see `JournalDoor`)."""
        ...

    def append(self, record: AnyRecord) -> None:
        """Journal a record, admitted."""
        ...

    def keep_files(self, contents: Mapping[str, bytes]) -> None:
        """Keep the bytes of pictures, sound and files in the run's folder, by their references in messages."""
        ...

    def endpoint(self, role: str) -> Endpoint:
        """Return the endpoint of a role, or raise a Fault of kind `data` if the run has none."""
        ...

    def began(self, frame: Began) -> None:
        """Report to watchers that a call is in flight."""
        ...

    def text(self, key: Key, n: int, kind: str, text: str) -> None:
        """Publish new text of a call."""
        ...

    def state(self, key: Key, state: str, why: str = "") -> None:
        """Record what a conversation is doing."""
        ...

    def model_answered(self, role: str) -> None:
        """Record that a role's model answered, so key, address and request format are right."""
        ...

    async def wait_while_paused(self, key: Key) -> None:
        """Wait while the run is paused by the user."""
        ...

    async def before_call(self, key: Key, n: int, request: ChatRequest, role: str) -> None:
        """Wait while the run must not make calls (disk full), and raise if the budget is used up."""
        ...

    async def wait_to_retry(self, key: Key, seconds: float) -> None:
        """Wait for the next try of a failed call, without a slot, and then for a slot."""
        ...

    async def pause_run(self, key: Key, fault: Fault) -> None:
        """Pause the run as long as a provider demands, or until the user resumes it."""
        ...

    def release_reservation(self, key: Key, n: int) -> None:
        """Release the reservation of a call that has failed permanently."""
        ...

    def output_of(self, case_id: str, rollout: int) -> Any:
        """Return the output of a rollout that has an answer, else None."""
        ...


class StageChanges(NamedTuple):
    """An experiment's change in one conversation."""

    arm: Arm = ()
    repeated: int = 0
    """Number of the model's replies before the first change."""
    salt: str = ""
    """Makes simulated models answer differently from the recorded run."""

    @classmethod
    def of(cls, manifest: Manifest, key: Key) -> Self:
        experiment = manifest.experiment
        if experiment is None:
            return cls()
        beginning = experiment.beginnings.get(key.case, Beginning(0))
        arm = experiment.arm(key.rollout // manifest.judge_repeats) if beginning.replies is not None else ()
        return cls(arm, beginning.replies or 0, f"{experiment.seed}/" if experiment.seed else "")


class CallWatch(Watch):
    """Reports the events of one call to the journal and to watchers."""

    def __init__(self, host: StageContext, key: Key, n: int, role: str) -> None:
        self._host, self._key, self._n, self._role = host, key, n, role
        self._streaming = False
        self._resent = 0
        self.sent_twice = False
        """True if a request was sent again after its connection was closed."""
        self.tokens: int | None = None
        """Tokens of embedded texts; None if not counted."""
        self.address = ""
        """Address that was tried last; empty if the model has only one."""

    def on_text(self, kind: str, text: str) -> None:
        """Publish text; the first text proves the connection."""
        if not self._streaming:
            self._streaming = True
            self._host.model_answered(self._role)
            self._host.state(self._key, "streaming" if self._role == "model" else _STATES.get(self._role, "asking"))
        self._host.text(self._key, self._n, kind, text)

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        """Journal a failed try and publish the wait."""
        self._streaming = False
        self._host.append(
            Tried(
                at=time.time(),
                key=self._key,
                n=self._n,
                kind=fault.kind.value,
                message=fault.advice if fault.is_silent or fault.kind is FaultKind.BAD_REQUEST else fault.message,
                role=self._role,
                partial=fault.partial,
                wait_s=wait_s,
                address=self.address,
                charges=self._resent + fault.may_be_charged,
            )
        )
        self._resent = 0
        if wait_s is not None:
            cause = fault.kind.value.replace("_", " ")
            self._host.state(self._key, "waiting", f"{cause}, again in {wait_words(wait_s)}")

    def on_wait(self, why: str, until: float | None) -> None:
        """Publish why the call is not sent yet; an empty reason ends the wait."""
        self._host.state(self._key, "waiting" if why else _STATES.get(self._role, "asking"), why)

    def on_address(self, address: str) -> None:
        self.address = address

    def on_resent(self) -> None:
        self._resent += 1
        self.sent_twice = True

    def on_tokens(self, count: int) -> None:
        self.tokens = (self.tokens or 0) + count

    async def wait_to_retry(self, wait_s: float) -> None:
        await self._host.wait_to_retry(self._key, wait_s)
        self._host.state(self._key, _STATES.get(self._role, "asking"))

    async def pause_run(self, fault: Fault) -> None:
        """Pause the run instead of breaking the case."""
        await self._host.pause_run(self._key, fault)


_CUT = frozenset({"length", "content_filter"})
"""Finish reasons that mean a reply was cut off."""
_STATES = {
    "model": "asking",
    "judge": "judging",
    "second_judge": "judging",
    "user": "user writing",
    "embedding": "embedding",
}
CALL_STATES = frozenset(_STATES.values())
"""States of conversations that wait for an answer of a model."""


class JournaledStage(Stage):
    """The Stage of one conversation (see suites/stage.py), on top of the journal and the engine's endpoints."""

    def __init__(
        self,
        key: Key,
        recorded: ConversationEffects,
        host: StageContext,
        changes: StageChanges | None = None,
        states: Mapping[str, str] | None = None,
    ) -> None:
        """Create the stage of a conversation.

        Args:
            key: key of the conversation.
            recorded: its journaled effects.
            host: the engine.
            changes: what an experiment changes.
            states: names of the conversation's states during effects, by kind (see `Suite.effect_states`).
        """
        self._key, self._recorded, self._host = key, recorded, host
        self._changes = changes or StageChanges()
        self._applied = Applied(self._changes.arm)
        self._replies = 0
        """Number of replies requested from the model."""
        self._is_live = recorded.earlier is None or recorded.earlier.replies is None
        """False while the beginning of a recorded conversation is repeated."""
        self._states = states or {}
        self._issued = 0
        self.input_tokens = self.output_tokens = self.calls = 0
        self.reply_characters = 0
        """Characters of the model's replies so far, including arguments of calls."""
        self.cut = self.model = self.server = ""
        self.symptoms = Symptoms()
        self.spent: dict[str, list[Reply]] = {}
        self.embedded: list[Embedded] = []
        self._addresses: dict[str, str] = {}
        """Address that answered last, by role; its server has the conversation's prompt cached."""

    @property
    def key(self) -> Key:
        """Key of the conversation, or of the recorded one while its beginning is repeated: requests may contain it."""
        earlier = self._recorded.earlier
        if earlier is None or earlier.finished is None:
            return self._key
        is_repeated = earlier.is_closed if earlier.replies is None else earlier.effects.unused > 0
        return earlier.finished.key if is_repeated else self._key

    @cached_property
    def _taken(self) -> frozenset[int]:
        """Numbers of the recorded effects; a worker gets them only when the conversation begins."""
        return frozenset(effect.n for effect in self._recorded.in_order)

    @cached_property
    def _last_call(self) -> Counter[str]:
        """Number of the last journaled call, by role."""
        return Counter({effect.role: effect.n for effect in self._recorded.in_order if isinstance(effect, Asked)})

    def _issue(self) -> int:
        """Return the next number of a performed effect; concurrent effects may be replayed in another order."""
        self._issued += 1
        while self._issued in self._taken:
            self._issued += 1
        return self._issued

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        role: str = "model",
        params: dict[str, Any] | None = None,
        turn: int = 0,
        step: int = 0,
        scripted: Callable[[], ScriptedAnswers] | None = None,
    ) -> Reply:
        is_first = role == "model" and self._count_reply()
        apart, contents = _kept_apart(messages)
        request = self._changed(cast(list[dict[str, Any]], list(apart)), list(tools), params or {}, role)
        sent, tools, params = request.messages, request.tools, request.params
        name = digest("ask", role, [sent, tools, params])
        recorded = self._replayed(name, Asked)
        if recorded is not None:
            self._addresses[role] = recorded.address
            return self._account(role, recorded.reply, request, is_kept=recorded.kept)
        n = self._issue()
        earlier = self._taken_over(name, role, Asked, sent)
        written = self._written_reply() if is_first else None
        thread = self._recorded.threads[role]
        if contents:
            self._host.keep_files(contents)
        if earlier is not None:
            reply, address = earlier.reply, earlier.address
        elif written is not None:
            reply, address = written, ""
        else:
            prefix = thread.shared(sent)
            new = sent[prefix:]
            check_request(turn, step, [new, params, tools if tools != thread.tools else []])
            # With this seed, simulated models answer the same call in the same way after a resume.
            seed = f"{self._changes.salt}{self._key.case}/{self._key.rollout}/{self._key.attempt}/{n}"
            call = ChatRequest(
                cast(list[Message], list(sent)),
                tools,
                params,
                name=f"{self._key.case}/{self._key.rollout}/{self._key.attempt}/{name}",
                seed=seed,
                prefers=self._addresses.get(role, ""),
                scripted=scripted,
            )
            began = Began(key=self._key, n=n, role=role, turn=turn, step=step, messages=new, at=time.time(),
                          prefix=prefix, base=self._last_call[role])  # fmt: skip
            reply, address = await self._send(call, began, contents)
        self._addresses[role] = address
        is_kept = earlier is not None or written is not None
        prefix, new, changed = thread.condense(sent, tools)
        self._last_call[role] = n
        self._host.append(
            Asked(at=time.time(), key=self._key, n=n, digest=name, reply=reply, role=role, turn=turn, step=step,
                  prefix=prefix, messages=new, tools=changed, params=params, address=address, kept=is_kept)
        )  # fmt: skip
        if role == "model" and AFTER_REPLY in self._states:
            self._host.state(self._key, self._states[AFTER_REPLY])
        return self._account(role, reply, request, is_kept=is_kept)

    async def _send(self, request: ChatRequest, began: Began, contents: Mapping[str, bytes]) -> tuple[Reply, str]:
        """Send a request with the bytes of its parts; return the reply and the address that answered."""
        n, role = began.n, began.role
        await self._host.before_call(self._key, n, request, role)
        self._host.state(self._key, _STATES.get(role, "asking"))
        self._host.began(msgspec.structs.replace(began, at=time.time()))
        endpoint, watch = self._host.endpoint(role), self._watch(n, role)
        if any(isinstance(message.get("content"), list) for message in request.messages):
            whole = with_contents(request.messages, lambda reference: _content(contents, reference))
            request = msgspec.structs.replace(request, messages=whole)
        reply = await self._answered(role, n, lambda: endpoint.ask(request, watch))
        return reply, watch.address

    def _count_reply(self) -> bool:
        """Count a reply requested from the model; return whether it is the first live one."""
        earlier, self._replies = self._recorded.earlier, self._replies + 1
        if earlier is None or earlier.replies is None:
            return self._replies == 1
        if self._replies == earlier.replies + 1:
            self._is_live = True
            earlier.check_whole()
            return True
        return False

    def _changed(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], params: dict[str, Any], role: str
    ) -> Request:
        """Return a request with the changes of the experiment, if they apply to it."""
        request = Request(messages, tools, params)
        arm, first = self._changes.arm, self._changes.repeated + 1
        if role != "model" or not arm or self._replies < first:
            return request
        changed = self._applied.to(request)
        if self._replies == first and changed == request and arm[0].what == OPENING:
            words = "the suite now begins this conversation differently from when its opening was edited"
            raise Fault(FaultKind.DATA, words)
        return changed

    def _written_reply(self) -> Reply | None:
        """Return the reader's replacement for the model's reply; None if there is none."""
        change = next((change for change in self._changes.arm if change.what == REPLY), None)
        if change is None:
            return None
        calls = tuple(ToolCall(**call) for call in change.after["tool_calls"])
        return Reply(change.after["content"], calls, finish="tool_calls" if calls else "stop")

    def take_over_all(self) -> None:
        """Journal, once, all calls of an earlier play in order, except those of judges."""
        earlier = self._recorded.earlier
        for effect in earlier.effects.in_order if earlier is not None else ():
            n = self._issue()
            if isinstance(effect, Asked) and effect.role not in JUDGES and self._replayed(effect.digest, Asked) is None:
                self._host.append(msgspec.structs.replace(effect, at=time.time(), key=self._key, n=n, kept=True))

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        listed = list(texts)
        name = digest("embed", role, listed)
        recorded = self._replayed(name, Embedded)
        if recorded is not None:
            return self._account_embedding(recorded)
        n = self._issue()
        if (earlier := self._taken_over(name, role, Embedded, listed)) is not None:
            record = msgspec.structs.replace(earlier, at=time.time(), key=self._key, n=n, kept=True)
            self._host.append(record)
            return self._account_embedding(record)
        request = ChatRequest([{"role": "user", "content": text} for text in listed], params={"max_tokens": 1})
        await self._host.before_call(self._key, n, request, role)
        self._host.state(self._key, "embedding")
        endpoint, watch = self._host.endpoint(role), self._watch(n, role)
        vectors = await self._answered(role, n, lambda: endpoint.embed(listed, watch))
        packed = [struct.pack(f"<{len(vector)}d", *vector) for vector in vectors]
        record = Embedded(
            time.time(),
            self._key,
            n,
            name,
            listed,
            packed,
            role,
            tokens=watch.tokens,
            address=watch.address,
            sent_twice=watch.sent_twice,
        )
        self._host.append(record)
        return self._account_embedding(record)

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        name = digest("perform", kind, request)
        recorded = self._replayed(name, Performed)
        if recorded is not None:
            return recorded.result
        n = self._issue()
        if (earlier := self._taken_over(name, "", Performed, [kind, request])) is not None:
            self._host.append(msgspec.structs.replace(earlier, at=time.time(), key=self._key, n=n))
            return earlier.result
        self._host.state(self._key, self._states.get(kind, kind.replace("_", " ")))
        result = await action()
        record = self._host.admit(
            Performed(at=time.time(), key=self._key, n=n, digest=name, kind=kind, request=request, result=result)
        )
        self._host.append(record)
        return record.result

    def _watch(self, n: int, role: str) -> CallWatch:
        return CallWatch(self._host, self._key, n, role)

    async def _answered(self, role: str, n: int, call: Callable[[], Awaitable[AnswerT]]) -> AnswerT:
        """Await a call; add the role to a fault, and record that the model has answered."""
        try:
            answer = await call()
        except BaseException as error:
            self._host.release_reservation(self._key, n)  # that of an answer is released when its record is counted
            if isinstance(error, Fault):
                error.role = role
            raise
        self._host.model_answered(role)
        return answer

    def _replayed(self, name: str, kind: type[EffectT]) -> EffectT | None:
        effect = self._recorded.pop_next(name)
        if effect is not None and not isinstance(effect, kind):
            raise Fault(FaultKind.INTERNAL, f"the journal has a different effect under digest {name}")
        if effect is not None and (earlier := self._recorded.earlier) is not None:
            earlier.effects.pop_next(name)  # taken over before this session
        return effect

    def _taken_over(self, name: str, role: str, kind: type[EffectT], request: list[Any]) -> EffectT | None:
        """Return the recorded effect of the same request, or None if it must be performed now.

        Raises:
            Fault: the conversation is only regraded, and this was never asked (kind `unanswered`).
        """
        earlier = self._recorded.earlier
        if earlier is None or role in earlier.asked_anew:
            return None
        effect = earlier.effects.pop_next(name)
        if isinstance(effect, kind):
            return effect
        if self._is_live and (not earlier.is_closed or role in JUDGES):
            return None
        words = "graded again" if self._is_live else "continued from here"
        raise Unanswered(words, request, earlier.effects.threads[role].messages if role else [])

    def _account(self, role: str, reply: Reply, request: Request, *, is_kept: bool) -> Reply:
        if role == "model":
            self.cut, self.model = reply.finish if reply.finish in _CUT else "", reply.model
            if reply.server and reply.server not in self.server.split("; "):
                self.server += f"{'; ' if self.server else ''}{reply.server}"
            self.reply_characters += len(reply.content or "") + sum(len(call.arguments) for call in reply.tool_calls)
            self.symptoms.add(request.messages, request.tools, reply)
        if is_kept:
            return reply
        self.calls += 1
        self.spent.setdefault(role, []).append(reply)
        if reply.usage is not None:
            self.input_tokens += reply.usage.input
            self.output_tokens += reply.usage.output
        return reply

    def _account_embedding(self, record: Embedded) -> list[list[float]]:
        if not record.kept:
            self.embedded.append(record)
            self.input_tokens += record.tokens or 0
        return [_unpack(vector) for vector in record.vectors]

    def output_of(self, case_id: str) -> Any:
        return self._host.output_of(case_id, self._key.rollout)

    def score(
        self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0, role: str = ""
    ) -> None:
        self._write_once(
            Scored(at=time.time(), key=self._key, name=name, value=value, threshold=threshold, turn=turn, role=role)
        )

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        self._write_once(Noted(at=time.time(), key=self._key, kind=kind, data=data, turn=turn, step=step))

    def _write_once(self, record: Scored | Noted) -> None:
        record = self._host.admit(record)
        if not self._recorded.repeats(record):
            self._host.append(record)


def _kept_apart(messages: Sequence[Message]) -> tuple[Sequence[Any], dict[str, bytes]]:
    """Return messages with references to their pictures, sound and files, and the bytes."""
    try:
        return kept_apart(messages)
    except ValueError as error:
        raise SuiteError(f"a part of a message is not valid base64: {error}") from error


def _content(contents: Mapping[str, bytes], reference: MediaReference) -> bytes:
    """Return the bytes of a content part, which may come from the recorded run if a change refers to it."""
    if (data := contents.get(str(reference))) is None:
        raise Fault(FaultKind.DATA, f"the suite does not send the file {reference.file_name} of this request")
    return data


def _unpack(vector: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(vector) // 8}d", vector))
