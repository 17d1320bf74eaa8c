"""One rollout: a driver plays the case, and each call that it makes is an effect of the conversation.

If the driver is lost, the rollout starts over; as after a resume, calls that were answered before get the same answers
until the first new one.
"""

import asyncio
import contextvars
from collections import Counter, defaultdict
from collections.abc import Coroutine
from typing import Any, TypeVar, cast

from console.benchmarks.harness.definition import PROGRAM, Definition
from console.benchmarks.harness.driver_process import Driver, DriverLost, HarnessSession, Outcome
from console.benchmarks.harness.scripted_answers import scripted_answers
from console.core.call_tree import message_digest
from console.core.case import Case
from console.core.chat import Message, Native, Reply
from console.core.fault import Fault, FaultKind
from console.core.record import MAIN_REPLIES
from console.core.request import digest
from console.llm.gateway.dialect import GatewayCall
from console.llm.gateway.server import Answers, Gateway, Held
from console.suites.stage import Stage

AnswerT = TypeVar("AnswerT")
_TRIES = 3
"""Number of lost drivers after which a rollout counts as broken."""
_SHORTEST_WAIT_S = 0.05
_EPOCHS_AN_ATTEMPT = 1_000_000


class Rollout:
    """Plays one case once."""

    def __init__(self, case: Case, stage: Stage, definition: Definition) -> None:
        self._case, self._stage, self._definition = case, stage, definition
        self._answered: dict[str, list[Reply]] = defaultdict(list)
        """Replies by the digest of their calls, in order; for a rollout that starts over."""
        self._heard: Counter[str] = Counter()
        self._natives: dict[str, Native] = {}
        """Data that an API expects back with its own reply, by digest of the reply's message."""
        self._embedded: dict[str, list[list[float]]] = {}
        """Vectors by the digest of their texts."""
        self._calls: set[asyncio.Task[Any]] = set()
        self._asking_since = self._seconds_in_calls = 0.0
        self._context = contextvars.copy_context()

    async def play(self, session: HarnessSession) -> dict[str, Any]:
        """Play to the end and return the driver's result.

        Raises:
            Fault: a call failed for good, or every driver was lost.
        """
        why = ""
        for _ in range(_TRIES):
            try:
                return await self._play_once(session)
            except DriverLost as lost:
                why = str(lost)
        words = f"the driver of the {self._definition.format} was lost {_TRIES} times: {why}"
        raise Fault(FaultKind.WORKER, words)

    async def _play_once(self, session: HarnessSession) -> dict[str, Any]:
        async with session.driver() as driver:
            return await self._play_with(driver, session.gateway)

    async def _play_with(self, driver: Driver, gateway: Gateway) -> dict[str, Any]:
        outcome: Outcome = asyncio.get_running_loop().create_future()
        self._heard.clear()

        async def ask(role: str, call: GatewayCall) -> Reply:
            return await self._answer(self._ask(role, call), outcome)

        async def embed(role: str, texts: list[str]) -> list[list[float]]:
            return await self._answer(self._embed(role, texts), outcome)

        token = gateway.admit(Answers(ask, embed, ("model", *self._definition.needed_roles)))
        try:
            return await self._result(driver, token, outcome)
        except asyncio.CancelledError:
            for task in self._calls:
                task.cancel()
            raise
        finally:
            gateway.dismiss(token)
            driver.forget(token)
            if self._calls:  # requests already sent are paid for, so their replies belong in the journal
                await asyncio.wait(self._calls)

    async def _result(self, driver: Driver, token: str, outcome: Outcome) -> dict[str, Any]:
        key = self._stage.key
        epoch = key.rollout + 1 + (key.attempt - 1) * _EPOCHS_AN_ATTEMPT
        driver.start(token, {"id": self._case.id, "epoch": epoch, "case": self._case.data}, outcome)
        if self._definition.format == PROGRAM and not await self._ends_in_time(outcome):
            minutes = self._definition.limits.minutes
            words = f"ran for {minutes:g} minutes outside of calls without an end ([limits] in suite.toml)"
            return {"error": words, "limit": "program"}
        result = await outcome
        if replies := result.get("replies"):
            self._stage.note(MAIN_REPLIES, [message_digest({"role": "assistant", **reply}) for reply in replies])
        return {name: value for name, value in result.items() if name not in ("say", "token", "replies")}

    async def _ends_in_time(self, outcome: Outcome) -> bool:
        """Wait for the outcome; return False if the program exceeds its time, which stands still during calls."""
        now = asyncio.get_running_loop().time
        ends = now() + self._definition.limits.minutes * 60 - self._seconds_in_calls
        while not outcome.done():
            in_calls = self._seconds_in_calls + (now() - self._asking_since if self._calls else 0.0)
            if (left := ends + in_calls - now()) <= 0:
                return False
            await asyncio.wait([outcome], timeout=max(left, _SHORTEST_WAIT_S))
        return True

    async def _answer(self, answering: Coroutine[Any, Any, AnswerT], outcome: Outcome) -> AnswerT:
        """Answer a call in a task of the conversation; hold the call if the conversation cannot continue."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(answering, context=self._context.copy())
        self._asking_since = self._asking_since if self._calls else loop.time()
        self._calls.add(task)
        task.add_done_callback(self._call_ended)
        try:
            return await asyncio.shield(task)
        except Fault as fault:
            if fault.kind is FaultKind.CONTEXT:  # harnesses handle this error themselves
                raise
            _fail(outcome, fault)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
        except BaseException as error:
            _fail(outcome, error)
        raise Held

    def _call_ended(self, task: asyncio.Task[Any]) -> None:
        self._calls.discard(task)
        if not self._calls:
            self._seconds_in_calls += asyncio.get_running_loop().time() - self._asking_since

    async def _ask(self, role: str, call: GatewayCall) -> Reply:
        name = digest("call", role, [call.messages, call.tools, call.params])
        replayed = self._heard[name]
        self._heard[name] += 1
        if replayed < len(self._answered[name]):
            return self._answered[name][replayed]
        turn, step = _place(call.messages)
        reply = await self._stage.ask(
            [self._with_native(message) for message in call.messages],
            tools=call.tools,
            role=role,
            params=call.params,
            turn=turn,
            step=step,
            scripted=lambda: scripted_answers(self._case, role, call),
        )
        self._answered[name].append(reply)
        if reply.native is not None:
            self._natives[message_digest(dict(reply.message()))] = reply.native
        return reply

    async def _embed(self, role: str, texts: list[str]) -> list[list[float]]:
        """Embed each text once, as programs embed all earlier answers again with each new one."""
        name = digest("embed", role, texts)
        if name not in self._embedded:
            self._embedded[name] = await self._stage.embed(texts, role=role)
        return self._embedded[name]

    def _with_native(self, message: Message) -> Message:
        if not self._natives or message["role"] != "assistant":
            return message
        native = self._natives.get(message_digest(dict(message)))
        return message if native is None else cast(Message, {**message, "native": native})


def _fail(outcome: Outcome, error: BaseException) -> None:
    if not outcome.done():
        outcome.set_exception(error)


def _place(messages: list[Message]) -> tuple[int, int]:
    """Return the turn and step of a call: the number of user messages before the last one, and of replies after it."""
    users = [index for index, message in enumerate(messages) if message["role"] == "user"]
    last = users[-1] if users else 0
    return max(len(users) - 1, 0), sum(message["role"] == "assistant" for message in messages[last:])
