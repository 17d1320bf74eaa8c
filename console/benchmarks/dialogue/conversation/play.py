"""Playing a case: its turns in order, tools answered from what the row holds, the judge where a check needs one.

A row without any canned result is about the calls alone: they end their turn, as there is nothing to answer them with.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from console.benchmarks.dialogue.conversation.canned_results import answer_call
from console.benchmarks.dialogue.conversation.judge import Judge
from console.benchmarks.dialogue.conversation.scripted_answers import (
    right_texts,
    scripted_answers_for,
    scripted_user_for,
)
from console.benchmarks.dialogue.rules.answer import Judgement, Output, PlayedCall, PlayedTurn
from console.benchmarks.dialogue.rules.checks import judged_in, own_rubric, read_checks
from console.benchmarks.dialogue.rules.row import Rubric
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
