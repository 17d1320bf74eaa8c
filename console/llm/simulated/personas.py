"""Personas of the simulated models: each turns scripted answers into a planned reply.

All randomness comes from the given generator, which the caller seeds with the question, so that runs are reproducible.
Only the try number changes between tries, for temporary faults.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import msgspec

from console.core.chat import ChatRequest, ScriptedAnswers, Utterance
from console.core.fault import FaultKind
from console.core.media import content_text
from console.llm.simulated.judge import grade
from console.llm.simulated.mutations import mutate_calls

_OPENINGS = ("In short,", "As I see it,", "Looking at the question,", "From what is given,", "To begin with,")
_SUBJECTS = ("the most likely answer", "a sensible first step", "the main point", "one way to go", "what matters here")
_VERBS = ("is to look at", "depends on", "follows from", "comes down to", "starts with")
_OBJECTS = (
    "the details that were mentioned",
    "how the parts fit together",
    "the order in which things happen",
    "what is already known",
    "the smaller of the two choices",
    "a careful reading of the request",
)
_THOUGHTS = (
    "Let me see what is being asked here.",
    "There are several ways to read this.",
    "The names of the parameters matter, so I should look at them again.",
    "Wait, was a unit mentioned? I had better check.",
    "It may be that one of the values has a default.",
    "I could also ask back, but that seems needless.",
    "So, putting it together now.",
)


@dataclass(frozen=True, slots=True)
class PlannedReply:
    """The planned reply of a simulated model, with its fault if it has one."""

    content: str | None = None
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    reasoning: str = ""
    finish: str = ""
    """Text of the reply; empty to derive it from the calls."""
    fault: FaultKind | None = None
    fault_after: float = 0.0
    """Fraction of the text streamed before the fault."""


Persona = Callable[[ChatRequest, Random, int], PlannedReply]


def plan_reply(persona: Persona, request: ChatRequest, rng: Random, number: int) -> PlannedReply:
    """Return the recorded answer if the suite has one, else the persona's version of the scripted ones."""
    if request.scripted is not None:
        answers = request.scripted()
        if answers.recorded is not None:
            return _plan_reply(request, answers.recorded)
        request = msgspec.structs.replace(request, scripted=lambda: answers)
    return persona(request, rng, number)


def careful(request: ChatRequest, rng: Random, number: int) -> PlannedReply:
    """A persona that is right about nine times out of ten, and otherwise wrong in ordinary ways."""
    del number
    right = rng.random() < 0.92
    return _plan_reply(request, _pick_utterance(request, rng, right=right))


def hasty(request: ChatRequest, rng: Random, number: int) -> PlannedReply:
    """A persona that is right half the time, otherwise with wrong values or types, or missing or invented arguments."""
    del number
    if rng.random() < 0.55:
        return _plan_reply(request, _pick_utterance(request, rng, right=True))
    answers = _scripted_answers(request, rng)
    if answers.right.calls and rng.random() < 0.75:
        return _plan_reply(request, Utterance(answers.right.content, mutate_calls(answers.right.calls, rng)))
    return _plan_reply(request, _pick_utterance(request, rng, right=False))


def rambling(request: ChatRequest, rng: Random, number: int) -> PlannedReply:
    """A persona that thinks aloud, wraps its answer in prose, and sometimes buries it where no decoder finds it."""
    del number
    thoughts = _thinking_text(rng)
    planned = replace(
        _plan_reply(request, _pick_utterance(request, rng, right=rng.random() < 0.85)), reasoning=thoughts
    )
    chance = rng.random()
    if chance < 0.55:
        return planned
    if chance < 0.8:
        before = "Sure, let me help you with that. "
        return replace(planned, content=before + (planned.content or ""))
    text = planned.content or as_text(planned.calls)
    return replace(
        planned, content=f"{_filler_sentence(rng)} I would try something like {text[:-1]} … and so on.", calls=()
    )


def broken(request: ChatRequest, rng: Random, number: int) -> PlannedReply:
    """A persona that fails like real providers: some faults disappear with the next try, some never do."""
    planned = _plan_reply(request, _pick_utterance(request, rng, right=rng.random() < 0.8))
    chance = rng.random()
    if chance < 0.12:
        lasting = rng.choice((FaultKind.BAD_ANSWER, FaultKind.SERVER, FaultKind.TRUNCATED))
        return replace(planned, fault=lasting, fault_after=0.6 if lasting is FaultKind.TRUNCATED else 0.0)
    if chance < 0.2:
        return replace(planned, content="", calls=())
    if chance < 0.3:
        return replace(planned, content=f"{{'tool': {_filler_sentence(rng)[:30]!r}, \x00 ]]", calls=())
    passing = (
        FaultKind.RATE_LIMIT,
        FaultKind.TRUNCATED,
        FaultKind.SERVER,
        FaultKind.BROKEN_STREAM,
        FaultKind.BAD_ANSWER,
    )
    if number <= rng.choice((0, 0, 1, 1, 2)):
        kind = passing[(rng.randrange(len(passing)) + number) % len(passing)]
        midway = kind in (FaultKind.TRUNCATED, FaultKind.BROKEN_STREAM)
        return replace(planned, fault=kind, fault_after=0.5 if midway else 0.0)
    return planned


def judge(request: ChatRequest, rng: Random, number: int) -> PlannedReply:
    """A persona that grades in the tag that the prompt asks for."""
    del number
    if request.scripted is not None:
        return _plan_reply(request, request.scripted().right)
    return PlannedReply(content=grade(_last_question(request), rng))


def user(request: ChatRequest, rng: Random, number: int) -> PlannedReply:
    """A persona that writes the scripted messages of the suite's simulated user."""
    del number
    return _plan_reply(request, _pick_utterance(request, rng, right=True))


PERSONAS: dict[str, Persona] = {
    "careful": careful,
    "hasty": hasty,
    "rambling": rambling,
    "broken": broken,
    "judge": judge,
    "user": user,
    "embedding": careful,
}
"""Personas by the `model_id` of simulated models."""


def _scripted_answers(request: ChatRequest, rng: Random) -> ScriptedAnswers:
    if request.scripted is not None:
        return request.scripted()
    text = _filler_sentence(rng)
    if "<answer>" in _last_question(request):
        text = f"<answer>{text}</answer>"
    return ScriptedAnswers(right=Utterance(text), wrong=(Utterance(text[: len(text) // 2]),))


def _pick_utterance(request: ChatRequest, rng: Random, *, right: bool) -> Utterance:
    """Return the right answer, one of the wrong ones, or a mutation of the right one."""
    answers = _scripted_answers(request, rng)
    if right:
        return answers.right
    if answers.wrong:
        return rng.choice(answers.wrong)
    if answers.right.calls:
        return Utterance(answers.right.content, mutate_calls(answers.right.calls, rng))
    words = (answers.right.content or "I am not sure.").split(" ")
    return Utterance(" ".join(words[: max(1, len(words) - 1)]))


def _plan_reply(request: ChatRequest, utterance: Utterance) -> PlannedReply:
    """Return a reply with native calls if tools were offered, else with calls as Python-style text."""
    if utterance.calls and not request.tools:
        text = as_text(utterance.calls)
        return PlannedReply(content=f"{utterance.content}\n{text}" if utterance.content else text)
    return PlannedReply(content=utterance.content, calls=tuple(utterance.calls))


def as_text(calls: tuple[tuple[str, Any], ...]) -> str:
    """Return calls as `[name(a=1), …]`, the format that BFCL's prompt asks for."""
    return "[" + ", ".join(f"{name}({_arguments(arguments)})" for name, arguments in calls) + "]"


def _arguments(arguments: dict[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _last_question(request: ChatRequest) -> str:
    return next((content_text(m.get("content")) for m in reversed(request.messages) if m["role"] == "user"), "")


def _filler_sentence(rng: Random) -> str:
    words = (rng.choice(_OPENINGS), rng.choice(_SUBJECTS), rng.choice(_VERBS), rng.choice(_OBJECTS))
    return " ".join(words) + "."


def _thinking_text(rng: Random) -> str:
    return " ".join(rng.sample(_THOUGHTS, rng.randint(3, 6)))
