"""Plays a conversation with simulators, executing calls in the worker.

A turn ends with the first reply without an executable call. More than twenty executed steps in one turn end the whole
conversation, as in the official code. Executed calls are journaled effects; after a resume they are executed again on
new simulators before the first new call.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from console.benchmarks.bfcl.conversation.call_format import in_call_format
from console.benchmarks.bfcl.conversation.prompts import added_functions, first_turn, system_prompt, with_hints
from console.benchmarks.bfcl.conversation.scripted_answers import scripted_turn
from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.data.wording import Wording
from console.benchmarks.bfcl.models.decode.length import is_long
from console.benchmarks.bfcl.models.handlers.handler import Answer, Handler, Turn, answers_may_break
from console.benchmarks.bfcl.models.handlers.services import with_own_seed
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.simulators.host import SimulatorHost, StateGone
from console.benchmarks.bfcl.simulators.judging import worker_entry
from console.core.chat import Reply, ScriptedAnswers
from console.core.fault import Fault, FaultKind
from console.suites.stage import Stage

STEP_LIMIT = 20
"""Maximum number of executed steps per turn; one more ends the conversation."""
_TRIES = 3
"""Attempts to execute a step if the worker is lost."""


TurnScript = Callable[[Entry, Sequence[Doc], int, int], Callable[[], ScriptedAnswers]]
"""Takes an entry, the available documents, a turn and a step; returns the scripted answers."""


class Execution(Protocol):
    """Executes the calls of one conversation."""

    executed: list[list[str]]
    """Executed calls by step, including those from the journal."""

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute the calls of a step and return their results for the model."""
        ...

    async def end(self) -> None:
        """Release resources, such as simulators in a worker."""
        ...


@dataclass(slots=True)
class Simulation:
    """The simulators of one conversation and the calls executed on them."""

    entry: Entry
    host: SimulatorHost
    key: str
    executed: list[list[str]] = field(default_factory=list[list[str]])
    generation: int = -1
    """Generation of the worker with the conversation; -1 if there is none."""

    async def execute(self, calls: list[str]) -> list[str]:
        """Execute the calls of a step, on new simulators after all earlier steps.

        Raises:
            Fault: the worker was lost in this step or repeatedly; kind `sandbox`.
        """
        for _ in range(_TRIES):
            try:
                if self.generation < 0:
                    await self._replay()
                return await self._execute(calls)
            except StateGone:
                self.generation = -1
        raise Fault(FaultKind.SANDBOX, "the simulators were lost repeatedly")

    async def end(self) -> None:
        """Release the simulators in the worker."""
        if self.generation >= 0:
            with contextlib.suppress(StateGone):
                await self.host.acall("end", {"key": self.key}, generation=self.generation)

    async def _replay(self) -> None:
        self.generation = await self.host.begin(self.key, worker_entry(self.entry))
        for earlier in self.executed:
            await self._execute(earlier)

    async def _execute(self, calls: list[str]) -> list[str]:
        arguments = {"key": self.key, "calls": calls}
        return await self.host.acall("execute", arguments, generation=self.generation)


@dataclass(slots=True)
class MultiTurnConversation:
    """One conversation in progress."""

    entry: Entry
    stage: Stage
    handler: Handler
    wording: Wording
    simulation: Execution
    withheld: dict[str, list[Doc]]
    """Documents that become available, by turn number as a string."""
    memory: Any = None
    """Core memory of a memory entry, shown in its prompt."""
    script: TurnScript = scripted_turn
    history: list[Turn] = field(default_factory=list[Turn])
    asked: int = 0
    """Number of requests so far."""
    docs: list[Doc] = field(default_factory=list[Doc])

    async def play(self) -> list[list[Any]]:
        """Play all turns and return the replies of every step, by turn.

        Raises:
            Fault: a model or the simulators failed.
            UnreadableAnswer: an answer crashes the handler.
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
        """Play one turn; return its steps, and False if it reached the step limit."""
        steps: list[Any] = []
        tools, params = self.handler.tools(self.docs), self.handler.params(self.docs, long=True)
        offered = [*self.docs, *self._described_docs(turn)]
        while len(steps) <= STEP_LIMIT:
            step = len(steps)
            with answers_may_break():
                messages = self.handler.request(self.history, self.docs, self.asked)
            reply = await self.stage.ask(
                messages,
                tools=tools,
                params=with_own_seed(params, f"{self.stage.key} {turn} {step}"),
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
        """Parse a reply, in a thread if it is long."""
        if is_long(reply.content):
            return await asyncio.to_thread(self.handler.read, reply)
        return self.handler.read(reply)

    def _scripted(self, offered: Sequence[Doc], turn: int, step: int) -> Callable[[], ScriptedAnswers]:
        answers = self.script(self.entry, offered, turn, step)
        return lambda: in_call_format(answers(), self.handler.call_format)

    async def _calls_of(self, output: Any) -> list[str]:
        """Decode the calls of a reply, in a thread if it is long."""
        if is_long(output):
            return await asyncio.to_thread(self.handler.calls, output)
        return self.handler.calls(output)

    def _described_docs(self, turn: int) -> list[Doc]:
        """Return the documents added in messages up to this turn; simulated models read argument names from them."""
        if self.handler.native:
            return []
        return [doc for number, docs in self.withheld.items() if int(number) <= turn for doc in docs]

    async def _execute(self, calls: list[str], turn: int, step: int) -> list[str]:
        request = {"turn": turn, "step": step, "calls": calls}
        results: list[str] = await self.stage.perform("running code", request, lambda: self.simulation.execute(calls))
        self.simulation.executed.append(calls)
        return results
