"""A user who is played by a model: it knows its goal, sees the conversation from the other side, and ends it itself."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from console.core.chat import Message
from console.core.tags import tag_contents
from console.suites.dialogue.answer import PlayedTurn
from console.suites.dialogue.row import SimulatedUser
from console.suites.dialogue.script import Script
from console.suites.dialogue.scripted_answers import scripted_user_for
from console.suites.stage import Stage

USER = "user"
"""The role of the model that plays a user."""
_END = "end"
_BEGIN = "(The conversation begins. Write your first message.)"
_SILENCE = "(no text)"
_INSTRUCTIONS = """\
You play a user who talks to an assistant. Write only what this user would write next, in plain words, one message at \
a time. Do not play the assistant, and do not say more than the user knows.

Who you are: {persona}
What you want: {goal}
What you know, and tell when you are asked: {knows}
When you stop: {stop}

To stop, write <end>why, in a few words</end> and nothing else."""


class NextMessage(NamedTuple):
    """What the user does next."""

    text: str
    """What it writes; empty when it ends the conversation."""
    stopped: str = ""
    """Why it ends the conversation; empty while it goes on."""


async def next_message(script: Script, user: SimulatedUser, stage: Stage, turns: Sequence[PlayedTurn]) -> NextMessage:
    """Return what the user writes after some turns, or why it ends the conversation.

    Raises:
        Fault: the model of the role `user` could not be reached.
    """
    number = len(turns)
    if number == 0 and user.opening:
        return NextMessage(user.opening)
    if number >= user.max_turns:
        return NextMessage("", f"after {number} turns, as many as it may take")
    messages = user_messages(user, turns)
    reply = await stage.ask(messages, role=USER, turn=number, scripted=lambda: scripted_user_for(script, user, number))
    text = (reply.content or "").strip()
    ends = list(tag_contents(text, _END))
    if ends:
        return NextMessage("", ends[-1].strip() or "it said that it stops")
    return NextMessage(text) if text else NextMessage("", "it wrote nothing")


def user_messages(user: SimulatedUser, turns: Sequence[PlayedTurn]) -> list[Message]:
    """Return what the model that plays the user is asked: instructions, and the conversation as the user sees it."""
    knows = user.knows if isinstance(user.knows, str) else json.dumps(user.knows, ensure_ascii=False)
    instructions = _INSTRUCTIONS.format(
        persona=user.persona or "an ordinary user",
        goal=user.goal,
        knows=knows or "nothing beyond that",
        stop=user.stop or "as soon as you have what you want, or see that you will not get it",
    )
    messages: list[Message] = [{"role": "system", "content": instructions}, {"role": "user", "content": _BEGIN}]
    for turn in turns:
        messages.append({"role": "assistant", "content": turn.user})
        messages.append({"role": "user", "content": turn.answer.strip() or _SILENCE})
    return messages
