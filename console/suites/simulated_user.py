"""A user simulated by a model, which gets a goal, sees the conversation from the user's side, and ends it.

Used by dialogue rows and by suites in Python.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from console.core.chat import Message, ScriptedAnswers, ToolCall, Utterance
from console.suites.stage import Stage

USER = "user"
"""Role of the model that simulates a user."""
STOPPED = "user_stopped"
"""Kind of the journal note with the reason why the simulated user stopped."""
_END, _END_CLOSED = "<end>", "</end>"
SCRIPTED_END = Utterance(f"{_END}it has what it wanted{_END_CLOSED}")
"""Scripted message of a simulated model that ends the conversation."""
_BEGIN = "(The conversation begins. Write your first message.)"
_SILENCE = "(no text)"
_INSTRUCTIONS = f"""\
You play a user who talks to an assistant. Write only what this user would write next, in plain words, one message at \
a time. Do not play the assistant, and do not say more than the user knows.

Who you are: {{persona}}
What you want: {{goal}}
What you know, and tell when you are asked: {{knows}}
When you stop: {{stop}}

To stop, write {_END}why, in a few words{_END_CLOSED} and nothing else."""


class SimulatedUser(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Description of a user simulated by the model in the role `user`."""

    goal: Annotated[str, Meta(min_length=1)]
    persona: str = ""
    knows: str | dict[str, Any] | list[Any] = ""
    """Facts it gives when asked."""
    stop: str = ""
    """Condition for stopping; by default the goal is reached, or cannot be."""
    opening: str = ""
    """First message; by default written by the model."""
    max_turns: Annotated[int, Meta(ge=1, le=100)] = 8


class Exchange(NamedTuple):
    """A user message and the answer to it."""

    message: str
    answer: str
    calls: Sequence[Message] = ()
    """Messages of the user's own tool calls and their results, which came before its message."""


class UserTools(NamedTuple):
    """Tools that the simulated user calls itself, unseen by the assistant."""

    schemas: Sequence[dict[str, Any]]
    execute: Callable[[ToolCall], Awaitable[Message]]
    """Executes a call and returns the message with its result."""
    most_steps: int
    """Maximum number of replies for one message."""


async def lead(
    user: SimulatedUser,
    stage: Stage,
    answer: Callable[[str], Awaitable[str]],
    *,
    scripted: Callable[[int], ScriptedAnswers],
    turn: int = 0,
    tools: UserTools | None = None,
) -> str:
    """Let a simulated user write until it stops; record and return the reason.

    Args:
        user: description of the user.
        stage: the stage to call its model on.
        answer: plays one turn; takes the user message and returns the answer shown to the user.
        scripted: returns what a simulated model writes or calls next, given the number of its messages and steps with
            calls so far.
        turn: number of the first turn.
        tools: the user's own tools.

    Raises:
        Fault: a model call failed.
    """
    exchanges: list[Exchange] = []
    while True:
        step = await _next(user, stage, exchanges, scripted, turn + len(exchanges), tools)
        if step.stopped:
            last = max(turn + len(exchanges) - 1, 0)
            stage.note(STOPPED, {"goal": user.goal, "why": step.stopped}, turn=last)
            return step.stopped
        exchanges.append(Exchange(step.text, await answer(step.text), step.calls))


def user_messages(user: SimulatedUser, exchanges: Sequence[Exchange]) -> list[Message]:
    """Build the messages for the model of the user: instructions, and the conversation with roles swapped."""
    knows = user.knows if isinstance(user.knows, str) else json.dumps(user.knows, ensure_ascii=False)
    instructions = _INSTRUCTIONS.format(
        persona=user.persona or "an ordinary user",
        goal=user.goal,
        knows=knows or "nothing beyond that",
        stop=user.stop or "as soon as you have what you want, or see that you will not get it",
    )
    messages: list[Message] = [{"role": "system", "content": instructions}, {"role": "user", "content": _BEGIN}]
    for message, answer, calls in exchanges:
        messages += calls
        messages.append({"role": "assistant", "content": message})
        messages.append({"role": "user", "content": answer.strip() or _SILENCE})
    return messages


class _Step(NamedTuple):
    """Next step of the user: the `text` it writes, or the reason why it `stopped`."""

    text: str
    stopped: str = ""
    calls: Sequence[Message] = ()


async def _next(
    user: SimulatedUser,
    stage: Stage,
    exchanges: Sequence[Exchange],
    scripted: Callable[[int], ScriptedAnswers],
    turn: int,
    tools: UserTools | None,
) -> _Step:
    number = len(exchanges)
    if number == 0 and user.opening:
        return _Step(user.opening)
    if number >= user.max_turns:
        turns = "1 turn" if number == 1 else f"{number} turns"
        return _Step("", f"after {turns}, its limit")
    messages, calls = user_messages(user, exchanges), list[Message]()
    before = number + sum(message["role"] == "assistant" for exchange in exchanges for message in exchange.calls)
    for step in range(tools.most_steps if tools else 1):
        reply = await stage.ask(
            [*messages, *calls],
            tools=tools.schemas if tools else (),
            role=USER,
            turn=turn,
            step=step,
            scripted=lambda place=before + step: scripted(place),
        )
        if tools is None or not reply.tool_calls:
            return _read(reply.content or "", calls)
        calls.append(reply.message())
        for call in reply.tool_calls:
            calls.append(await tools.execute(call))
    return _Step("", f"it still called its tools after {tools.most_steps if tools else 1} replies")


def _read(text: str, calls: Sequence[Message]) -> _Step:
    """Parse a reply. An unclosed end tag also ends the conversation, so that the tag never reaches the other model."""
    _, mark, rest = text.rpartition(_END)
    if mark:
        return _Step("", rest.partition(_END_CLOSED)[0].strip() or "it said that it stops")
    return _Step(text.strip(), calls=calls) if text.strip() else _Step("", "it wrote nothing")
