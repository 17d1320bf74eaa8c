"""Scripted replies for simulated models: the expected calls in order, with words around them."""

import json
from collections.abc import Sequence

from console.benchmarks.tau2.conversation.talk import DONE, STOP
from console.benchmarks.tau2.rules.domains.world import USER
from console.benchmarks.tau2.rules.task import Action, Message, Task, calls_of
from console.core.chat import ScriptedAnswers, Utterance

_GIVES_UP = "I am sorry, I cannot help you with that."
_ASKS = "Please do the next step on your phone, and tell me what you see."
_CONTINUES = "Thank you. What is next?"
_STOPS = f"Thank you, that is all. {STOP}"
_PATIENCE = 3
"""Number of texts without progress after which the user stops."""


def agent_answers(task: Task, messages: Sequence[Message], *, solo: bool) -> ScriptedAnswers:
    """Return the next messages of a right and a wrong agent."""
    action = _next_action(task, messages)
    if action is None:
        if solo:
            return ScriptedAnswers(Utterance(None, ((DONE, {}),)))
        texts = ["That is done.", *(f"{text}." for text in task.criteria.communicate_info or ())]
        return ScriptedAnswers(Utterance(" ".join(texts)), (Utterance(texts[0]), Utterance(_GIVES_UP)))
    if action.requestor == USER and not solo:
        return ScriptedAnswers(Utterance(_ASKS), (Utterance(_GIVES_UP),))
    wrong = (Utterance(None, ((DONE, {}),)),) if solo else ()
    return ScriptedAnswers(Utterance(None, ((action.name, action.arguments),)), wrong)


def user_answers(task: Task, messages: Sequence[Message]) -> ScriptedAnswers:
    """Return the user's next message, in accordance with its instructions."""
    utterances = [message for message in messages if message.role == USER and not message.tool_calls]
    if not utterances:
        return ScriptedAnswers(Utterance(" ".join(["Hello, I need help.", *task.request.strip().splitlines()[:1]])))
    action = _next_action(task, messages)
    last_call = max((place for place, item in enumerate(messages) if item.tool_calls), default=0)
    idle = sum(message.role == USER for message in messages[last_call + 1 :])
    if action is not None and action.requestor == USER:
        return ScriptedAnswers(Utterance(None, ((action.name, action.arguments),)))
    if action is None or idle >= _PATIENCE or _GIVES_UP in (messages[-1].content or ""):
        return ScriptedAnswers(Utterance(_STOPS))
    return ScriptedAnswers(Utterance(_CONTINUES))


def judge_answers(task: Task, messages: Sequence[Message]) -> ScriptedAnswers:
    """Return the verdicts of a judge who looks for the expected calls."""
    calls = calls_of(messages)
    met = task.evaluation_criteria is not None and all(
        any(item.fits(call) for call in calls) for item in task.criteria.actions or ()
    )
    outcomes = [
        {
            "expectedOutcome": text,
            "reasoning": "the expected calls were made" if met else "calls are missing",
            "metExpectation": met,
        }
        for text in task.criteria.nl_assertions or ()
    ]
    return ScriptedAnswers(Utterance(json.dumps({"results": outcomes})))


def _next_action(task: Task, messages: Sequence[Message]) -> Action | None:
    """Return the next expected call, given the number of calls made so far."""
    actions = task.criteria.actions or []
    made = len(calls_of(messages[len(task.earlier_messages) :]))
    return actions[made] if made < len(actions) else None
