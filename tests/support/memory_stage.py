"""A stage that keeps its journal in memory, for conversations of cave-bench without an engine."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from support.strict_stage import StrictStage

from console.core.chat import Message, Reply, ScriptedAnswers, ToolCall, Usage, Utterance
from console.core.request import digest

Script = Callable[[int, int, list[Message]], str | list[tuple[str, Any]]]


class Interrupted(Exception):
    """Stands for a killed engine."""


class MemoryStage(StrictStage):
    """A stage that keeps its journal in memory and can be cut off before a given number of new model calls."""

    def __init__(self, script: Script | None = None, journal: list[tuple[str, Any]] | None = None, calls: int = 999):
        super().__init__()
        self.script, self.calls_left = script, calls
        self.known = list(journal or [])
        self.journal = list(journal or [])
        self.asked: list[list[Message]] = []
        self.notes: list[tuple[str, int, Any]] = []
        self.tools: list[Any] = []
        self.params: list[Any] = []

    def take(self, name: str) -> Any:
        for number, (known, result) in enumerate(self.known):
            if known == name:
                del self.known[number]
                return result
        return None

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
        sent = [dict(message) for message in messages]
        name = digest("ask", role, [sent, list(tools), params])
        known = self.take(name)
        if known is not None:
            return known
        if self.calls_left == 0:
            raise Interrupted
        self.calls_left -= 1
        self.asked.append(list(messages))
        self.tools.append(list(tools))
        self.params.append(params)
        reply = self._reply(turn, step, list(messages), scripted)
        self.journal.append((name, reply))
        return reply

    def _reply(
        self, turn: int, step: int, messages: list[Message], scripted: Callable[[], ScriptedAnswers] | None
    ) -> Reply:
        said = self.script(turn, step, messages) if self.script else None
        if said is None:
            assert scripted is not None
            return _reply(scripted().right)
        if isinstance(said, str):
            return Reply(said, usage=Usage(10, 5))
        calls = [
            ToolCall(f"c{n}", name, data if isinstance(data, str) else json.dumps(data))
            for n, (name, data) in enumerate(said)
        ]
        return Reply(None, tuple(calls), usage=Usage(10, 5))

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        name = digest("perform", kind, request)
        known = self.take(name)
        if known is not None:
            return known
        result = json.loads(json.dumps(await action()))
        self.journal.append((name, result))
        return result

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        self.notes.append((kind, turn, json.loads(json.dumps(data))))


def _reply(utterance: Utterance) -> Reply:
    calls = tuple(ToolCall(f"c{n}", name, json.dumps(data)) for n, (name, data) in enumerate(utterance.calls))
    return Reply(utterance.content, calls, usage=Usage(10, 5))


def cell(code: str) -> str:
    return f"Thinking.\n```python\n{code}\n```"
