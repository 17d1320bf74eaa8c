"""What a model answered: the output of a conversation, and the parts of it that one check looks at."""

import json
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from console.core.fault import UsageError


class PlayedCall(Struct, frozen=True, omit_defaults=True):
    """A tool call as the model wrote it."""

    name: str
    arguments: str
    """JSON text, if the model kept to it."""
    result: str = ""
    """What it got back; empty where the row answers no calls."""


class Grade(Struct, frozen=True, omit_defaults=True):
    """What a judge says of one criterion."""

    name: str
    grade: float
    why: str = ""


class Judgement(Struct, frozen=True, omit_defaults=True):
    """What the judge made of one answer."""

    grades: list[Grade] = field(default_factory=list[Grade])
    """Empty: no reply could be read."""
    problem: str = ""
    """Why not, if so."""
    second: list[Grade] = field(default_factory=list[Grade])
    """Those of the second judge, which decide nothing."""


class PlayedTurn(Struct, frozen=True, omit_defaults=True):
    """One turn as it was played."""

    answer: str
    """The text of the last reply."""
    user: str = ""
    calls: list[PlayedCall] = field(default_factory=list[PlayedCall])
    """All calls of the turn, in order."""
    judged: list[Judgement] = field(default_factory=list[Judgement])
    """For each check of the turn that needs a judge, in order."""


class Output(Struct, frozen=True, omit_defaults=True):
    """A conversation as it was played."""

    turns: list[PlayedTurn]
    judged: list[Judgement] = field(default_factory=list[Judgement])
    """For each check at the end that needs a judge, in order."""
    stopped: str = ""
    """Why the simulated user ended the conversation."""


class Seen(Struct, frozen=True):
    """What one check looks at."""

    text: str
    calls: list[PlayedCall]
    judged: list[Judgement]


def read_output(value: Any) -> Output:
    """Return an output: as it was played, or as somebody saved it, a text for each turn or one text.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(value, str):
        return Output([PlayedTurn(value)])
    if isinstance(value, list) and all(isinstance(item, str) for item in cast(list[Any], value)):
        return Output([PlayedTurn(text) for text in cast(list[str], value)])
    try:
        return msgspec.convert(value, Output)
    except msgspec.ValidationError as error:
        hint = "An output is a text, a list with a text for each turn, or what a run recorded."
        raise UsageError(f"the output cannot be read: {error}", hint=hint) from None


def seen_in_turn(turn: PlayedTurn) -> Seen:
    """Return what the checks of a turn look at."""
    return Seen(turn.answer, turn.calls, turn.judged)


def seen_at_end(output: Output) -> Seen:
    """Return what the checks at the end look at: the last answer, and the calls of all turns."""
    last = output.turns[-1].answer if output.turns else ""
    return Seen(last, [call for turn in output.turns for call in turn.calls], output.judged)


def read_arguments(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call; None when they are no JSON object."""
    try:
        value: Any = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None
