"""The conversation of agent, user and environment: turn order, visible messages, and end.

Models are called through functions, so that the same rules apply to runs and to recorded replies.
"""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import AGENT, USER
from console.benchmarks.tau2.rules.replay import begun
from console.benchmarks.tau2.rules.task import Call, Message, Task

GREETING = Message(AGENT, "Hi! How can I help you today?")
"""The agent's first message, written by no model."""
STOP = "###STOP###"
STOPS = (STOP, "###TRANSFER###", "###OUT-OF-SCOPE###")
"""Markers with which the user ends the conversation."""
DONE = "done"
"""The tool with which an agent ends a conversation that has no user."""


class Limits(msgspec.Struct, frozen=True):
    """Rules of a conversation."""

    max_steps: int = 200
    max_errors: int = 10
    validate: bool = False
    """End at a message with both text and calls."""
    solo: bool = False
    """There is no user; the agent has all tools."""


class Silent(Exception):
    """A party's reply is not a message: empty, or not in the format that its role requires."""

    def __init__(self, party: str, reason: str) -> None:
        super().__init__(f"{party}: {reason}")
        self.party, self.reason = party, reason


Ask = Callable[[str, Sequence[Message]], Awaitable[Message]]
"""Asks the model of a party, given all messages so far; see `seen_by`."""


class Talk:
    """One conversation; it can be read while it is played."""

    def __init__(self, domain: Domain, task: Task, limits: Limits) -> None:
        """Begin after the earlier messages of a task, or with the greeting."""
        self.world, self.limits = begun(domain, task, solo=limits.solo), limits
        self.messages = task.earlier_messages.copy() or ([] if limits.solo else [GREETING])
        self.steps = -int(limits.solo)  # the first reply without a user counts no step, as in the original
        self.errors = 0
        self.reason = ""
        """Reason for the end; empty during the conversation."""

    async def play(self, ask: Ask) -> None:
        """Play to the end.

        Raises:
            Silent: a reply is not a message.
        """
        turn = self._next_party()
        while not self.reason:
            message = checked(await ask(turn, self.messages))
            if self.limits.solo:
                message = _without_done(message)
            self.messages.append(message)
            self.steps += 1
            if message.tool_calls:
                if self.limits.solo and STOP in (message.content or ""):
                    raise Silent(turn, "stop_beside_calls")
                if self.limits.validate and (message.content or "").strip():
                    self.reason = f"{'user' if turn == USER else 'agent'}_error"
                    return
                self._carry_out(message.tool_calls, turn)
            elif turn == USER:
                self.reason = "user_stop" if any(mark in (message.content or "") for mark in STOPS) else ""
                turn = AGENT
            elif self.limits.solo:
                self.reason = "agent_stop"
            else:
                turn = USER
            self._limit()

    def _next_party(self) -> str:
        if not self.messages:
            return AGENT
        last = self.messages[-1]
        if last.role == "tool":
            return last.requestor
        return USER if last.role == AGENT else AGENT

    def _carry_out(self, calls: Sequence[Call], party: str) -> None:
        for call in calls:
            answer = self.world.call(party, call.name, call.arguments)
            result = Message("tool", answer.content, id=call.id, requestor=party, error=answer.error)
            self.errors += answer.error
            self.messages.append(result)
        self.steps += 1

    def _limit(self) -> None:
        """End at a limit, which takes precedence over a stop in the same step."""
        if self.steps >= self.limits.max_steps:
            self.reason = "max_steps"
        if self.errors >= self.limits.max_errors:
            self.reason = "too_many_errors"


def checked(message: Message) -> Message:
    """Return a message that has words or calls.

    Raises:
        Silent: it has neither.
    """
    if not message.tool_calls and not (message.content or "").strip():
        raise Silent(message.role, "empty_message")
    return message


def _without_done(message: Message) -> Message:
    """Return the message of an agent without a user; a call that ends the conversation becomes the mark of the end."""
    if not message.tool_calls:
        raise Silent(AGENT, "no_call")
    return Message(AGENT, STOP) if any(call.name == DONE for call in message.tool_calls) else message


def seen_by(party: str, messages: Sequence[Message]) -> list[Message]:
    """Return the messages that a party sees: texts of the other, and its own calls with their results."""
    return [
        message
        for message in messages
        if message.role == party
        or (message.role == "tool" and message.requestor == party)
        or (message.role != "tool" and not message.tool_calls)
    ]
