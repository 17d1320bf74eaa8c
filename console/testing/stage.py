"""A stage with an in-memory journal and a model that always answers right, or always wrong."""

import json
import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import Any

from console.core.case import Key
from console.core.chat import ChatRequest, Message, Reply, ScriptedAnswers, TokenLogprob, ToolCall, Usage, Utterance
from console.core.request import digest
from console.llm.embedding.bag_of_words import vector_of
from console.llm.simulated.mutations import mutate_calls
from console.llm.simulated.personas import PERSONAS, PlannedReply
from console.suites.stage import Stage

Effect = tuple[str, str]
"""One finished effect: digest of the request, and result as JSON."""
_TOKEN = 4
"""Approximate characters per token."""


class CutOff(BaseException):
    """Ends a conversation before an effect, as if the engine had been killed; suites must not catch it."""


class MemoryStage(Stage):
    """Replaces the engine's stage (see `console.suites.stage`) for one conversation."""

    def __init__(
        self,
        case: str,
        *,
        right: bool = True,
        journal: Sequence[Effect] = (),
        cut_after: int | None = None,
        outputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Create a stage.

        Args:
            case: id of the case.
            right: True for the suite's scripted right answers, False for wrong ones.
            journal: effects of an earlier conversation that was cut off.
            cut_after: number of new effects after which to cut the conversation off; None for never.
            outputs: outputs of the cases this one depends on, by id.
        """
        self._key, self._is_right, self._cut_after = Key(case), right, cut_after
        self._outputs = dict(outputs or {})
        self._recorded: dict[str, deque[str]] = defaultdict(deque)
        for name, result in journal:
            self._recorded[name].append(result)
        self.journal: list[Effect] = list(journal)
        """All effects, those of the earlier conversation first."""
        self.new = 0
        """Number of effects that were not in the journal."""
        self.scripted = self.unscripted = self.calls = 0
        """Model calls with and without scripted answers, and calls of all roles."""
        self.roles: set[str] = set()
        """Roles that were called."""
        self.input_tokens = self.output_tokens = 0
        """Approximate token counts."""
        self.scores: list[tuple[str, float | None]] = []
        self.notes: list[tuple[str, Any]] = []

    @property
    def key(self) -> Key:
        return self._key

    @property
    def unused(self) -> int:
        """Number of journaled effects that were not requested again."""
        return sum(map(len, self._recorded.values()))

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
        """Return the scripted answer, or the journaled one for an equal request."""
        request = ChatRequest(list(messages), list(tools), params or {}, scripted=scripted)
        self.calls += 1
        self.roles.add(role)
        if role == "model":
            self.scripted, self.unscripted = (
                self.scripted + (scripted is not None),
                self.unscripted + (scripted is None),
            )
        self.input_tokens += len(json.dumps([request.messages, request.tools], default=repr)) // _TOKEN
        name = digest("ask", role, [list(messages), list(tools), params or {}])
        row = await self._effect(name, lambda: _done(self._planned(request, role)))
        self.output_tokens += len(json.dumps(row)) // _TOKEN
        calls = tuple(
            ToolCall(f"call_{number}", function, arguments) for number, (function, arguments) in enumerate(row["calls"])
        )
        finish = "tool_calls" if calls else "stop"
        logprobs = _sure_tokens(row["content"]) if (params or {}).get("logprobs") else ()
        return Reply(row["content"], calls, finish=finish, usage=Usage(1, 1), simulated=True, logprobs=logprobs)

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        """Return bag-of-words vectors."""
        listed = list(texts)
        return await self._effect(digest("embed", role, listed), lambda: _done([vector_of(text) for text in listed]))

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        """Perform another effect, unless it is journaled."""
        return await self._effect(digest("perform", kind, request), action)

    def output_of(self, case_id: str) -> Any:
        return self._outputs.get(case_id)

    def score(
        self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0, role: str = ""
    ) -> None:
        self.scores.append((name, value))

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        """Record a note, normalized through JSON."""
        self.notes.append((kind, json.loads(json.dumps(data))))

    async def _effect(self, name: str, action: Callable[[], Awaitable[Any]]) -> Any:
        if self._recorded[name]:
            return json.loads(self._recorded[name].popleft())
        if self.new == self._cut_after:
            raise CutOff
        result = json.dumps(await action())
        self.new += 1
        self.journal.append((name, result))
        return json.loads(result)

    def _planned(self, request: ChatRequest, role: str) -> dict[str, Any]:
        if role == "model":
            answers = request.scripted() if request.scripted else ScriptedAnswers(Utterance("I do not know."))
            utterance = answers.right if self._is_right else _wrong(answers)
            request = ChatRequest(request.messages, request.tools, scripted=lambda: ScriptedAnswers(utterance))
        persona = PERSONAS["user" if role in ("model", "user") else "judge"]
        planned: PlannedReply = persona(request, Random(0), 1)  # noqa: S311 - not a secret
        calls = [
            (name, arguments if isinstance(arguments, str) else json.dumps(arguments))
            for name, arguments in planned.calls
        ]
        return {"content": planned.content, "calls": calls}


def _sure_tokens(content: str | None) -> tuple[TokenLogprob, ...]:
    """Return the words of an answer as tokens with high log probabilities."""
    return tuple(TokenLogprob(word, -0.1, ((word, -0.1),)) for word in re.findall(r"\s*\S+", content or ""))


def _wrong(answers: ScriptedAnswers) -> Utterance:
    if answers.wrong:
        return answers.wrong[0]
    if answers.right.calls:
        return Utterance(answers.right.content, mutate_calls(answers.right.calls, Random(0)))  # noqa: S311
    return Utterance("I do not know.")


async def _done(value: Any) -> Any:
    return value
