"""Plays a single-turn entry: one question and one reply."""

from collections.abc import Mapping
from typing import Any

from console.benchmarks.bfcl.conversation.prompts import first_turn, system_prompt, with_hints
from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.data.wording import Wording
from console.benchmarks.bfcl.models.handlers.handler import Handler, answers_may_break
from console.benchmarks.bfcl.models.handlers.services import with_own_seed
from console.benchmarks.bfcl.rules.entry import Entry
from console.core.chat import Message, ScriptedAnswers
from console.suites.stage import Stage


def question_of(entry: Entry, wording: Wording, handler: Handler) -> tuple[list[Message], list[Doc], Mapping[str, Any]]:
    """Return the messages, tools and additional fields to send for a single-turn entry."""
    docs = with_hints(entry.function, entry, wording)
    prompt = system_prompt(docs, entry.config, wording) if handler.described_in_prompt else ""
    history = handler.open_turn(first_turn(entry, wording, prompt=prompt), 0, docs)
    return handler.request(history, docs, 0), handler.tools(docs), handler.params(docs, long=False)


async def play_single_turn(entry: Entry, stage: Stage, handler: Handler, wording: Wording) -> Any:
    """Call the model once and return the output in the official format.

    Raises:
        Fault: the model call failed, which must not be scored.
        UnreadableAnswer: the answer crashes the handler.
    """
    messages, tools, params = question_of(entry, wording, handler)

    def scripted() -> ScriptedAnswers:  # the modules are loaded here, as only simulated models need them
        from console.benchmarks.bfcl.conversation.call_format import in_call_format
        from console.benchmarks.bfcl.conversation.scripted_answers import scripted_answers_for

        return in_call_format(scripted_answers_for(entry, "fc" if tools else "prompt"), handler.call_format)

    own_params = with_own_seed(params, str(stage.key))
    reply = await stage.ask(messages, tools=tools, params=own_params, scripted=scripted)
    with answers_may_break():
        return handler.read(reply).output
