"""Playing a case: its turns in order, tools answered from what the row holds, the judge where a check needs one.

A row without any canned result is about the calls alone: they end their turn, as there is nothing to answer them with.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import msgspec

from console.benchmarks.dialogue.conversation.judge import Judge
from console.benchmarks.dialogue.conversation.scripted_answers import (
    right_texts,
    scripted_answers_for,
    scripted_user_for,
)
from console.benchmarks.dialogue.rules.answer import Judgement, Output, PlayedCall, PlayedTurn, read_arguments
from console.benchmarks.dialogue.rules.checks import judged_in, own_rubric, read_checks
from console.benchmarks.dialogue.rules.row import CannedResult, Rubric
from console.benchmarks.dialogue.rules.script import Script
from console.core.chat import Message, Reply, ToolCall
from console.suites.simulated_user import SimulatedUser, lead
from console.suites.stage import Stage

UNKNOWN_RESULT = "no_result"
"""Kind of the note on a call for which the row holds no result."""


class Player:
    """One conversation."""

    def __init__(self, script: Script, stage: Stage, *, max_steps: int, has_second_judge: bool) -> None:
        """Prepare to play a script.

        Args:
            script: what is played.
            stage: through which everything is asked.
            max_steps: replies of the model in one turn.
            has_second_judge: whether a second judge grades too.
        """
        self._script, self._stage, self._max_steps = script, stage, max_steps
        self._judge = Judge(stage, has_second=has_second_judge)
        self._messages: list[Message] = []
        self._turns: list[PlayedTurn] = []

    async def play(self) -> dict[str, Any]:
        """Play to the end and return the output as JSON values.

        Raises:
            Fault: a model could not be reached; the conversation can be taken up again.
        """
        script, stopped = self._script, ""
        if script.system:
            self._messages.append({"role": "system", "content": script.system})
        self._messages += script.messages
        if script.user is not None:
            stopped = await self._play_with(script.user)
        for number, turn in enumerate(script.turns):
            played = await self._play_turn(number, turn.user)
            judged = await self._judged(turn.expect, [*self._turns, played])
            self._turns.append(msgspec.structs.replace(played, judged=judged))
        at_end = await self._judged(script.expect, self._turns) if self._turns else []
        return msgspec.to_builtins(Output(self._turns, at_end, stopped))

    async def _play_with(self, user: SimulatedUser) -> str:
        """Let a simulated user lead; return why it stopped."""

        async def answer(text: str) -> str:
            self._turns.append(await self._play_turn(len(self._turns), text))
            return self._turns[-1].answer

        return await lead(
            user, self._stage, answer, scripted=lambda number: scripted_user_for(self._script, user, number)
        )

    async def _play_turn(self, number: int, user: str) -> PlayedTurn:
        """Ask until the model answers without a call, or may not go on."""
        self._messages.append({"role": "user", "content": user})
        calls: list[PlayedCall] = []
        for step in range(self._max_steps):
            reply = await self._ask(number, step)
            self._messages.append(reply.message())
            calls += self._answer_calls(reply.tool_calls, number, step)
            if not reply.tool_calls or not self._script.tool_results or step == self._max_steps - 1:
                return PlayedTurn(reply.content or "", user, calls)
        raise AssertionError("a turn has at least one step")

    async def _ask(self, number: int, step: int) -> Reply:
        return await self._stage.ask(
            self._messages,
            tools=self._script.tools,
            turn=number,
            step=step,
            scripted=lambda: scripted_answers_for(self._script, number, step),
        )

    def _answer_calls(self, calls: Sequence[ToolCall], number: int, step: int) -> list[PlayedCall]:
        """Tell the model what its calls gave, and return them."""
        has_results = bool(self._script.tool_results)
        played: list[PlayedCall] = []
        for call in calls:
            answer = answer_call(call.name, call.arguments, self._script.tool_results)
            played.append(PlayedCall(call.name, call.arguments, answer.text if has_results else ""))
            self._messages.append({"role": "tool", "tool_call_id": call.id, "content": answer.text})
            if not answer.is_known and has_results:
                data = {"tool": call.name, "arguments": call.arguments, "result": answer.text}
                self._stage.note(UNKNOWN_RESULT, data, turn=number, step=step)
        return played

    async def _judged(self, expect: Sequence[dict[str, Any]], turns: Sequence[PlayedTurn]) -> list[Judgement]:
        """Ask the judge for each check that needs it, in order."""
        right = right_texts(self._script, len(turns) - 1)
        return [
            await self._judge.judge(own_rubric(check) or self._script.rubric or Rubric(), turns, right)
            for check in judged_in(read_checks(expect))
        ]


class ToolAnswer(NamedTuple):
    """What one call gets back."""

    text: str
    is_known: bool = True
    """Whether the row holds a result for it."""


def answer_call(name: str, written: str, results: Sequence[CannedResult]) -> ToolAnswer:
    """Return what a call gets back: the first result that fits.

    Args:
        name: the called tool.
        written: its arguments as the model wrote them.
        results: those of the row.
    """
    arguments = read_arguments(written)
    if arguments is None:
        return ToolAnswer(_error("the arguments are not a JSON object"))
    for canned in results:
        if canned.tool == name and _fits(canned.arguments, arguments):
            return ToolAnswer(_error(canned.error) if canned.error else _text(canned.result))
    return ToolAnswer(_error(f"no result is known for this call of {name}"), is_known=False)


def _fits(needed: dict[str, Any], arguments: dict[str, Any]) -> bool:
    return all(name in arguments and _equal(arguments[name], value) for name, value in needed.items())


def _equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same; true is not 1, but 1.0 is."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        lefts, rights = cast(list[Any], left), cast(list[Any], right)
        return len(lefts) == len(rights) and all(map(_equal, lefts, rights))
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = cast(dict[str, Any], left), cast(dict[str, Any], right)
        return ours.keys() == theirs.keys() and all(_equal(ours[key], theirs[key]) for key in ours)
    return bool(left == right)


def _text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _error(message: str) -> str:
    return json.dumps({"error": message}, ensure_ascii=False)
