"""Plays a case: its turns in order, with canned tool results, and judges if needed.

In a row without canned results, calls end their turn, as they cannot be answered.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import msgspec

from console.benchmarks.dialogue.conversation.scripted_answers import (
    scripted_answers_for,
    scripted_judge,
    scripted_user_for,
)
from console.benchmarks.dialogue.data.attached_files import content_parts
from console.benchmarks.dialogue.data.hidden_tests import read_tests
from console.benchmarks.dialogue.rules.answer import Output, PlayedCall, PlayedTurn, read_arguments
from console.benchmarks.dialogue.rules.checks import checks_in, judged_in, own_rubric, read_checks
from console.benchmarks.dialogue.rules.choices import arranged
from console.benchmarks.dialogue.rules.code_tests import code_in, has_tests
from console.benchmarks.dialogue.rules.letter_choice import ASKED_FOR, is_by_logprob, letter_probabilities
from console.benchmarks.dialogue.rules.row import CannedResult, PythonTests
from console.benchmarks.dialogue.rules.script import AttachedFile, Script
from console.core.chat import Message, Reply, ToolCall
from console.core.media import content_text
from console.suites.chat import note_step_limit
from console.suites.code_run import CodeResult
from console.suites.judging.judge import Judge
from console.suites.judging.rubric import Judgement, Rubric
from console.suites.simulated_user import SimulatedUser, lead
from console.suites.stage import Stage

UNKNOWN_RESULT = "no_result"
"""Kind of the journal note on a call without a canned result."""


class Player:
    """Plays one conversation."""

    def __init__(
        self,
        script: Script,
        stage: Stage,
        *,
        max_steps: int,
        has_second_judge: bool,
        judge_repeats: int,
        folder: Path,
    ) -> None:
        """Store the script and stage.

        Args:
            script: the conversation.
            stage: the stage of all effects.
            max_steps: maximum model replies per turn.
            has_second_judge: also call the second judge.
            judge_repeats: number of times the judge grades an answer.
            folder: the suite's folder, which has the hidden tests.
        """
        self._script, self._stage, self._max_steps = script, stage, max_steps
        self._folder = folder
        self._judge = Judge(stage, has_second=has_second_judge, repeats=judge_repeats)
        self._by_logprob, self._choices = is_by_logprob(script), len(script.choices)
        self._messages: list[Message] = []
        self._turns: list[PlayedTurn] = []

    async def play(self) -> dict[str, Any]:
        """Play the conversation and return the output as JSON.

        Raises:
            Fault: a model call failed; the conversation can be resumed.
        """
        order = await self._order()
        self._script = arranged(self._script, order)
        script, stopped = self._script, ""
        if script.system:
            self._messages.append({"role": "system", "content": script.system})
        self._messages += script.messages
        if script.user is not None:
            stopped = await self._play_with(script.user)
        for number, turn in enumerate(script.turns):
            played = await self._play_turn(number, turn.user, turn.files)
            judged = await self._judged(turn.expect, [*self._turns, played])
            ran = await self._ran(turn.expect, played.answer)
            self._turns.append(msgspec.structs.replace(played, judged=judged, ran=ran))
        at_end = await self._judged(script.expect, self._turns) if self._turns else []
        ran = await self._ran(script.expect, self._turns[-1].answer) if self._turns else []
        return msgspec.to_builtins(Output(self._turns, at_end, ran, order, stopped))

    async def _order(self) -> list[int]:
        """Return a random order of the choices, which is the same in every replay of this rollout."""
        script, key = self._script, self._stage.key
        if not script.shuffle or not script.choices:
            return []

        async def shuffled() -> list[int]:
            order = list(range(len(script.choices)))
            Random(f"{key.case} {key.rollout}").shuffle(order)  # noqa: S311 - not a secret
            return order

        return await self._stage.perform("choices", {"case": key.case, "choices": len(script.choices)}, shuffled)

    async def _play_with(self, user: SimulatedUser) -> str:
        """Play with a simulated user; return the reason why it stopped."""

        async def answer(text: str) -> str:
            self._turns.append(await self._play_turn(len(self._turns), text))
            return self._turns[-1].answer

        return await lead(
            user, self._stage, answer, scripted=lambda number: scripted_user_for(self._script, user, number)
        )

    async def _play_turn(self, number: int, user: str, files: Sequence[AttachedFile] = ()) -> PlayedTurn:
        """Call the model until it answers without tool calls, or the turn must end."""
        parts = content_parts(self._folder, files) if files else []
        self._messages.append({"role": "user", "content": [{"type": "text", "text": user}, *parts] if parts else user})
        calls: list[PlayedCall] = []
        for step in range(self._max_steps):
            reply = await self._ask(number, step)
            self._messages.append(reply.message())
            calls += self._answer_calls(reply.tool_calls, number, step)
            if not reply.tool_calls or not self._script.tool_results:
                has_letters = self._by_logprob and bool(reply.logprobs)
                letters = letter_probabilities(reply.logprobs, self._choices) if has_letters else None
                return PlayedTurn(reply.content or "", user, calls, letters=letters)
        spent = note_step_limit(self._stage, self._max_steps, number)
        return PlayedTurn(self._messages_text(), user, calls, spent=spent)

    def _messages_text(self) -> str:
        """Return the text of the model's last reply."""
        replies = (message.get("content") for message in reversed(self._messages) if message["role"] == "assistant")
        return content_text(next(replies, None))

    async def _ask(self, number: int, step: int) -> Reply:
        return await self._stage.ask(
            self._messages,
            tools=self._script.tools,
            params=dict(ASKED_FOR) if self._by_logprob else None,
            turn=number,
            step=step,
            scripted=lambda: scripted_answers_for(self._script, number, step),
        )

    def _answer_calls(self, calls: Sequence[ToolCall], number: int, step: int) -> list[PlayedCall]:
        """Append tool results to the messages and return the calls."""
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
        """Return a judgment for each check that needs one, in order."""
        answer, turn = turns[-1].answer, len(turns) - 1
        return [
            await self._judge.judge(
                own_rubric(check) or self._script.rubric or Rubric(),
                answer,
                conversation=conversation_text(turns),
                turn=turn,
                simulated=lambda rubric: scripted_judge(self._script, rubric, answer, turn),
            )
            for check in judged_in(read_checks(expect))
        ]

    async def _ran(self, expect: Sequence[dict[str, Any]], answer: str) -> list[CodeResult]:
        """Run the code of an answer for each check with tests, in order.

        Raises:
            Fault: the sandbox failed, or the tests are not those of the row.
        """
        if not has_tests(expect):
            return []
        return [
            await self._stage.run_code(
                code_in(answer),
                tests=read_tests(self._folder, check),
                timeout=check.timeout,
                packages=self._folder / check.packages if check.packages else None,
                hidden=self._folder,
            )
            for check in checks_in(PythonTests, read_checks(expect))
        ]


def conversation_text(turns: Sequence[PlayedTurn]) -> str:
    """Format a conversation for a judge, without the last answer."""
    lines: list[str] = []
    for number, turn in enumerate(turns):
        lines.append(f"User: {turn.user}")
        for call in turn.calls:
            lines.append(f"Assistant calls {call.name}({call.arguments})")
            lines += [f"It gets back: {call.result}"] if call.result else []
        if number < len(turns) - 1:
            lines.append(f"Assistant: {turn.answer}")
    return "\n".join(lines)


class ToolAnswer(NamedTuple):
    """Result of one call."""

    text: str
    is_known: bool = True
    """True if the row has a result for the call."""


def answer_call(name: str, written: str, results: Sequence[CannedResult]) -> ToolAnswer:
    """Return the first matching canned result of a call, or an error.

    Args:
        name: name of the tool.
        written: arguments as the model wrote them.
        results: canned results of the row.
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
    """Return whether two JSON values are equal; 1.0 equals 1, true does not."""
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
