"""Playing a conversation with simulators: turns of user messages, steps of replies, calls executed in the worker.

A turn ends with the first reply that holds no executable call. More than twenty executed steps in one turn end the
whole conversation, as officially. Executed calls are effects of the stage; after a resume the worker knows nothing of
them, so everything executed before is played again on fresh simulators before the first new call.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from console.benchmarks.bfcl.conversation.call_format import in_call_format
from console.benchmarks.bfcl.conversation.prompts import added_functions, first_turn, system_prompt, with_hints
from console.benchmarks.bfcl.conversation.rendering import Doc
from console.benchmarks.bfcl.conversation.scripted_answers import scripted_turn
from console.benchmarks.bfcl.conversation.wording import Wording
from console.benchmarks.bfcl.models.decode.length import is_long
from console.benchmarks.bfcl.models.handlers.handler import Answer, Handler, Turn, answers_may_break
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.simulators.host import SimulatorHost, StateGone
from console.benchmarks.bfcl.simulators.judging import worker_entry
from console.core.chat import Reply, ScriptedAnswers
from console.core.fault import Fault, FaultKind
from console.suites.stage import Stage

STEP_LIMIT = 20
"""Executed steps of one turn, after which the conversation is ended."""
_TRIES = 3
"""How often a step is executed when the simulators are lost meanwhile."""


TurnScript = Callable[[Entry, Sequence[Doc], int, int], Callable[[], ScriptedAnswers]]
"""From entry, offered documents, turn and step to what the simulated models may answer."""


class Execution(Protocol):
    """Where the calls of one conversation are executed."""

    executed: list[list[str]]
    """By step, those from the journal included."""

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute the calls of a step and return their results as the model sees them."""
        ...

    async def end(self) -> None:
        """Release what the execution holds, such as simulators in a worker."""
        ...


@dataclass(slots=True)
class Simulation:
    """The simulators of one conversation, and what was executed on them so far."""

    entry: Entry
    host: SimulatorHost
    key: str
    executed: list[list[str]] = field(default_factory=list[list[str]])
    generation: int = -1
    """Of the worker that holds the conversation; another one knows nothing of it."""

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute the calls of a step, after everything before where the simulators are new.

        Raises:
            Fault: the worker was lost in it, or again and again; kind `sandbox`.
        """
        for _ in range(_TRIES):
            try:
                if self.generation < 0:
                    await self._play_again()
                return await self._execute(calls)
            except StateGone:
                self.generation = -1
        raise Fault(FaultKind.SANDBOX, "the simulators were lost again and again")

    async def end(self) -> None:
        """Release the conversation's simulators in the worker."""
        if self.generation >= 0:
            with contextlib.suppress(StateGone):
                await self.host.acall("end", {"key": self.key}, generation=self.generation)

    async def _play_again(self) -> None:
        self.generation = await self.host.begin(self.key, worker_entry(self.entry))
        for earlier in self.executed:
            await self._execute(earlier)

    async def _execute(self, calls: list[str]) -> list[str]:
        arguments = {"key": self.key, "calls": calls}
        return await self.host.acall("execute", arguments, generation=self.generation)


@dataclass(slots=True)
class MultiTurnConversation:
    """One conversation while it is played."""

    entry: Entry
    stage: Stage
    handler: Handler
    wording: Wording
    simulation: Execution
    withheld: dict[str, list[Doc]]
    """Documents that become available at a turn (as text)."""
    memory: Any = None
    """Core memory of a memory entry, shown in its prompt; empty when there is nothing in it."""
    script: TurnScript = scripted_turn
    history: list[Turn] = field(default_factory=list[Turn])
    asked: int = 0
    """Requests made so far."""
    docs: list[Doc] = field(default_factory=list[Doc])

    async def play(self) -> list[list[Any]]:
        """Hold all turns and return the replies of every step, by turn.

        Raises:
            Fault: a model or the simulators failed.
            UnreadableAnswer: an answer breaks the handler.
        """
        turns: list[list[Any]] = []
        try:
            for number in range(len(self.entry.question)):
                self._open_turn(number)
                steps, ended = await self._turn(number)
                turns.append(steps)
                if not ended:
                    break
        finally:
            await self.simulation.end()
        return turns

    def _open_turn(self, number: int) -> None:
        if number == 0:
            self.docs = with_hints(self.entry.function, self.entry, self.wording)
            prompt = system_prompt(self.docs, "", self.wording) if self.handler.described_in_prompt else ""
            opening = first_turn(self.entry, self.wording, prompt=prompt, memory=self.memory)
            self.history = self.handler.open_turn(opening, 0, self.docs)
            return
        messages = list(self.entry.question[number])
        added = self.withheld.get(str(number))
        if added:
            native = self.handler.native
            self.docs = [*self.docs, *added] if native else self.docs
            messages.insert(0, added_functions(added, self.wording, "fc" if native else "prompt"))
        self.history += self.handler.open_turn(messages, number, self.docs)

    async def _turn(self, turn: int) -> tuple[list[Any], bool]:
        """Play one turn; returns its steps and whether it ended by itself."""
        steps: list[Any] = []
        tools, params = self.handler.tools(self.docs), dict(self.handler.params(long=True))
        offered = [*self.docs, *self._told(turn)]
        while len(steps) <= STEP_LIMIT:
            step = len(steps)
            with answers_may_break():
                messages = self.handler.request(self.history, self.docs, self.asked)
            reply = await self.stage.ask(
                messages,
                tools=tools,
                params=params,
                turn=turn,
                step=step,
                scripted=self._scripted(offered, turn, step),
            )
            self.asked += 1
            with answers_may_break():
                answer = await self._read(reply)
            steps.append(answer.output)
            self.history.append(answer.message)
            calls = await self._calls_of(answer.output)
            if not calls:
                return steps, True
            results = await self._execute(calls, turn, step)
            self.history += self.handler.show_results(answer.message, calls, results)
        return steps, False

    async def _read(self, reply: Reply) -> Answer:
        """Return what a reply means; a long one is read beside the event loop."""
        if is_long(reply.content):
            return await asyncio.to_thread(self.handler.read, reply)
        return self.handler.read(reply)

    def _scripted(self, offered: Sequence[Doc], turn: int, step: int) -> Callable[[], ScriptedAnswers]:
        answers = self.script(self.entry, offered, turn, step)
        return lambda: in_call_format(answers(), self.handler.call_format)

    async def _calls_of(self, output: Any) -> list[str]:
        """Return the calls of a reply; a long one is decoded beside the event loop."""
        if is_long(output):
            return await asyncio.to_thread(self.handler.calls, output)
        return self.handler.calls(output)

    def _told(self, turn: int) -> list[Doc]:
        """Return documents that were told in words until this turn; they name arguments for the simulated models."""
        if self.handler.native:
            return []
        return [doc for number, docs in self.withheld.items() if int(number) <= turn for doc in docs]

    async def _execute(self, calls: list[str], turn: int, step: int) -> list[str]:
        request = {"turn": turn, "step": step, "calls": calls}
        results: list[str] = await self.stage.perform("running code", request, lambda: self.simulation.execute(calls))
        self.simulation.executed.append(calls)
        return results
