"""A user who is played by a model: it knows its goal, sees the conversation from the other side, and ends it itself.

Rows and suites in Python use the same one: its prompt, how its reply is read, and the reasons why it stops.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from console.core.chat import Message, ScriptedAnswers, Utterance
from console.suites.stage import Stage

USER = "user"
"""The role of the model that plays a user."""
STOPPED = "user_stopped"
"""Kind of the note on why the simulated user ended the conversation."""
_END, _END_CLOSED = "<end>", "</end>"
SCRIPTED_END = Utterance(f"{_END}it has what it wanted{_END_CLOSED}")
"""What a simulated model writes in this role to end the conversation."""
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
    """A user who is played by the model of the role `user`."""

    goal: Annotated[str, Meta(min_length=1)]
    persona: str = ""
    knows: str | dict[str, Any] | list[Any] = ""
    """What it can tell when it is asked."""
    stop: str = ""
    """When it ends the conversation; without it as soon as the goal is reached or cannot be."""
    opening: str = ""
    """Its first message; without it the model makes one up."""
    max_turns: Annotated[int, Meta(ge=1, le=100)] = 8


class Exchange(NamedTuple):
    """A message of the user and what came back."""

    message: str
    answer: str


async def lead(
    user: SimulatedUser,
    stage: Stage,
    answer: Callable[[str], Awaitable[str]],
    *,
    scripted: Callable[[int], ScriptedAnswers],
    turn: int = 0,
) -> str:
    """Let a simulated user write until it stops, note why, and return that.

    Args:
        user: who it is and what it wants.
        stage: through which its model is asked.
        answer: plays one turn: takes what the user writes, and returns the answer that it sees.
        scripted: what a simulated model writes after so many answers.
        turn: number of the first turn.

    Raises:
        Fault: a model could not be reached.
    """
    exchanges: list[Exchange] = []
    while True:
        step = await _next(user, stage, exchanges, scripted, turn + len(exchanges))
        if step.stopped:
            last = max(turn + len(exchanges) - 1, 0)
            stage.note(STOPPED, {"goal": user.goal, "why": step.stopped}, turn=last)
            return step.stopped
        exchanges.append(Exchange(step.text, await answer(step.text)))


def user_messages(user: SimulatedUser, exchanges: Sequence[Exchange]) -> list[Message]:
    """Return what the model that plays the user is asked: instructions, and the conversation as the user sees it."""
    knows = user.knows if isinstance(user.knows, str) else json.dumps(user.knows, ensure_ascii=False)
    instructions = _INSTRUCTIONS.format(
        persona=user.persona or "an ordinary user",
        goal=user.goal,
        knows=knows or "nothing beyond that",
        stop=user.stop or "as soon as you have what you want, or see that you will not get it",
    )
    messages: list[Message] = [{"role": "system", "content": instructions}, {"role": "user", "content": _BEGIN}]
    for message, answer in exchanges:
        messages.append({"role": "assistant", "content": message})
        messages.append({"role": "user", "content": answer.strip() or _SILENCE})
    return messages


class _Step(NamedTuple):
    """What the user does next: `text` is what it writes, `stopped` why it writes no more."""

    text: str
    stopped: str = ""


async def _next(
    user: SimulatedUser,
    stage: Stage,
    exchanges: Sequence[Exchange],
    scripted: Callable[[int], ScriptedAnswers],
    turn: int,
) -> _Step:
    number = len(exchanges)
    if number == 0 and user.opening:
        return _Step(user.opening)
    if number >= user.max_turns:
        turns = "1 turn" if number == 1 else f"{number} turns"
        return _Step("", f"after {turns}, as many as it may take")
    reply = await stage.ask(user_messages(user, exchanges), role=USER, turn=turn, scripted=lambda: scripted(number))
    return _read(reply.content or "")


def _read(text: str) -> _Step:
    """Read a reply; one that was cut off after the mark of the end is an end too, so that no model is sent the mark."""
    _, mark, rest = text.rpartition(_END)
    if mark:
        return _Step("", rest.partition(_END_CLOSED)[0].strip() or "it said that it stops")
    return _Step(text.strip()) if text.strip() else _Step("", "it wrote nothing")
