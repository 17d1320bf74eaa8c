"""Playing a case: its turns in order, tools answered from what the row holds, the judge where a check needs one."""

from typing import Any

import msgspec

from console.core.chat import Message
from console.suites.dialogue.answer import Output, PlayedCall, PlayedTurn
from console.suites.dialogue.script import Script
from console.suites.dialogue.scripted_answers import scripted_answers_for
from console.suites.stage import Stage


class Player:
    """One conversation."""

    def __init__(self, script: Script, stage: Stage) -> None:
        """Prepare to play a script."""
        self._script, self._stage = script, stage
        self._messages: list[Message] = []

    async def play(self) -> dict[str, Any]:
        """Play to the end and return the output as JSON values.

        Raises:
            Fault: a model could not be reached; the conversation can be taken up again.
        """
        if self._script.system:
            self._messages.append({"role": "system", "content": self._script.system})
        self._messages += self._script.messages
        turns = [await self._play_turn(number, turn.user) for number, turn in enumerate(self._script.turns)]
        return msgspec.to_builtins(Output(turns))

    async def _play_turn(self, number: int, user: str) -> PlayedTurn:
        self._messages.append({"role": "user", "content": user})
        reply = await self._stage.ask(
            self._messages,
            tools=self._script.tools,
            turn=number,
            scripted=lambda: scripted_answers_for(self._script, number, 0),
        )
        self._messages.append(reply.message())
        calls = [PlayedCall(call.name, call.arguments) for call in reply.tool_calls]
        return PlayedTurn(reply.content or "", user, calls)
