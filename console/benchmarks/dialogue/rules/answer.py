"""Output of a conversation, and the parts of it that checks use."""

import json
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.suites.code_run import CodeResult
from console.suites.judging.rubric import Judgement


class PlayedCall(Struct, frozen=True, omit_defaults=True):
    """A tool call by the model."""

    name: str
    arguments: str
    """Arguments as written by the model, normally JSON."""
    result: str = ""
    """Result of the call; empty if the row has no canned results."""


class PlayedTurn(Struct, frozen=True, omit_defaults=True):
    """One played turn."""

    answer: str
    """Text of the last reply."""
    user: str = ""
    calls: list[PlayedCall] = field(default_factory=list[PlayedCall])
    """All calls of the turn, in order."""
    judged: list[Judgement] = field(default_factory=list[Judgement])
    """One per judged check of the turn, in order."""
    ran: list[CodeResult] = field(default_factory=list[CodeResult])
    """One per check with tests of the turn, in order."""
    letters: dict[str, float] | None = None
    """Probability of each letter, if the choice is made by log probabilities; None if there are none."""
    spent: str = ""
    """Set if the model still called tools with its last permitted reply."""


class Output(Struct, frozen=True, omit_defaults=True):
    """A played conversation."""

    turns: list[PlayedTurn]
    judged: list[Judgement] = field(default_factory=list[Judgement])
    """One per judged check at the end of the conversation, in order."""
    ran: list[CodeResult] = field(default_factory=list[CodeResult])
    """One per check with tests at the end of the conversation, in order."""
    order: list[int] = field(default_factory=list[int])
    """For each position, the row's number of the choice shown there; empty if the choices were in the row's order."""
    stopped: str = ""
    """Reason why the simulated user ended the conversation."""


class Seen(Struct, frozen=True):
    """Input of a check."""

    text: str
    calls: list[PlayedCall]
    judged: list[Judgement]
    ran: list[CodeResult]
    letters: dict[str, float] | None = None


def read_output(value: Any) -> Output:
    """Read a recorded output, or saved answers: one string, or a list with one per turn.

    Raises:
        UsageError: any other value.
    """
    if isinstance(value, str):
        return Output([PlayedTurn(value)])
    if isinstance(value, list) and all(isinstance(item, str) for item in cast(list[Any], value)):
        return Output([PlayedTurn(text) for text in cast(list[str], value)])
    try:
        return msgspec.convert(value, ready_type(Output))
    except msgspec.ValidationError as error:
        hint = "An output is a string, a list with a string per turn, or a recorded output."
        raise UsageError(f"the output cannot be read: {error}", hint=hint) from None


def seen_in_turn(turn: PlayedTurn) -> Seen:
    """Return the input of a turn's checks."""
    return Seen(turn.answer, turn.calls, turn.judged, turn.ran, turn.letters)


def seen_at_end(output: Output) -> Seen:
    """Return the input of the checks at the end: the last answer, and the calls of all turns."""
    last = output.turns[-1] if output.turns else PlayedTurn("")
    calls = [call for turn in output.turns for call in turn.calls]
    return Seen(last.answer, calls, output.judged, output.ran, last.letters)


def read_arguments(text: str) -> dict[str, Any] | None:
    """Parse the arguments of a call; None: not a JSON object."""
    try:
        value: Any = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None
