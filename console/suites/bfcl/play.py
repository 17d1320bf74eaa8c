"""Playing a single-turn entry: one question, one reply, recorded in the official result form."""

from typing import Any

from console.core.case import Setting
from console.core.chat import Message, Reply
from console.suites.bfcl.entry import Entry
from console.suites.bfcl.prompts import first_turn, system_prompt, with_hints
from console.suites.bfcl.rendering import Doc
from console.suites.bfcl.scripted_answers import scripted_answers_for
from console.suites.bfcl.tools import native_tools
from console.suites.bfcl.wording import Wording
from console.suites.stage import Stage


def question_of(entry: Entry, wording: Wording, mode: str) -> tuple[list[Message], list[Doc]]:
    """Return the messages and the tools of a single-turn entry; tools are empty in prompting mode."""
    docs = with_hints(entry.function, entry, wording)
    if mode == "fc":
        return first_turn(entry, wording), native_tools(docs)
    return first_turn(entry, wording, prompt=system_prompt(docs, entry.config, wording)), []


async def play_single_turn(entry: Entry, stage: Stage, setting: Setting, wording: Wording) -> Any:
    """Ask once and return the output: a text, or a list of `{name: "<JSON text of the arguments>"}`.

    Raises:
        Fault: the model could not be asked; it is no answer and must not be scored.
    """
    messages, tools = question_of(entry, wording, setting.mode)
    reply = await stage.ask(messages, tools=tools, scripted=lambda: scripted_answers_for(entry, setting.mode))
    return output_of(reply, setting.mode)


def output_of(reply: Reply, mode: str) -> Any:
    """Return a reply in the official result form; native calls count in tool mode only."""
    if mode == "fc" and reply.tool_calls:
        return [{call.name: call.arguments} for call in reply.tool_calls]
    return reply.content
