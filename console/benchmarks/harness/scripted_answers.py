"""Scripted answers for simulated models: the target, in the formats that common tasks expect."""

from typing import Any, cast

from console.core.case import Case
from console.core.chat import ScriptedAnswers, Utterance
from console.core.json_text import as_object
from console.llm.gateway.dialect import GatewayCall

_LAST_WORDS = 3
"""Messages after which a simulated user ends the conversation."""
_WRONG = "I do not know."


def scripted_answers(case: Case, role: str, call: GatewayCall) -> ScriptedAnswers:
    """Return the possible answers of a simulated model to a call."""
    if role == "judge":
        return ScriptedAnswers(Utterance("yes\n\nGRADE: C"), (Utterance("no\n\nGRADE: I"),))
    if role == "user":
        replies = sum(message["role"] == "assistant" for message in call.messages)
        words = "###STOP###" if replies > _LAST_WORDS else "Please go on, that is all I know."
        return ScriptedAnswers(Utterance(words), (Utterance("###STOP###"),))
    target = case.data.get("target", "")
    first = cast("list[Any]", target)[:1] if isinstance(target, list) else [target]
    text = "".join(map(str, first))
    if any(as_object(tool.get("function")).get("name") == "submit" for tool in call.tools):
        return ScriptedAnswers(Utterance(None, (("submit", {"answer": text}),)), (Utterance(_WRONG),))
    if case.data.get("choices"):
        return ScriptedAnswers(Utterance(f"ANSWER: {text}"), (Utterance("ANSWER: Z"),))
    return ScriptedAnswers(Utterance(text or "Done."), (Utterance(_WRONG),))
