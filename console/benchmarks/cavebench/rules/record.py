"""The recorded output of a conversation, in JSON: what is scored, turn by turn.

What a worker sends may be forged by the code in it: everything is read strictly into these forms, and what does not fit
is a `BadRecord`.
"""

from typing import Any, TypeVar

import msgspec

from console.benchmarks.cavebench.rules.json_values import decode
from console.benchmarks.cavebench.rules.match import ActualCall
from console.benchmarks.cavebench.rules.score import TurnRecord, ValidatorAnswer

FormT = TypeVar("FormT")


class BadRecord(Exception):
    """Something that should be a record is none; the text says where."""


class CallJson(msgspec.Struct, frozen=True):
    """One call."""

    function: str
    arguments: Any = None
    call_id: str = ""


class ValidatorJson(msgspec.Struct, frozen=True):
    """What the validator said, or what it raised."""

    success: bool = False
    message: str = ""
    trouble: str = ""


class TurnJson(msgspec.Struct, frozen=True):
    """One played turn."""

    query: str = ""
    response: str | None = None
    calls: list[CallJson] = []
    snippets: list[str] = []
    steps: int = 0
    tokens: tuple[int, int, int] = (0, 0, 0)
    validator: ValidatorJson | None = None
    status: str = ""
    lost: str = ""
    """How the worker was lost in this turn."""
    cause: str = ""
    trouble: str = ""
    """What the hook or the agent raised."""

    @property
    def reason(self) -> str:
        """What kept the turn from being judged by its calls; empty when nothing did."""
        return f"sandbox_{self.cause or 'died'}" if self.lost else "hook_error" if self.trouble else ""

    def record(self) -> TurnRecord:
        """Return what the evaluator needs."""
        answer = None
        if self.validator is not None:
            trouble = self.validator.trouble
            message = f"validator raised {trouble}" if trouble else self.validator.message
            answer = ValidatorAnswer(self.validator.success and not trouble, message)
        return TurnRecord(
            calls=tuple(ActualCall(call.function, decode(call.arguments), call.call_id) for call in self.calls),
            snippets=tuple(self.snippets),
            steps=self.steps,
            tokens=self.tokens,
            validator=answer,
        )


class SentMessage(msgspec.Struct, frozen=True):
    """One message the agent wants sent."""

    role: str
    content: str


class Question(msgspec.Struct, frozen=True):
    """What the agent asks of the model."""

    messages: list[SentMessage]


class CellJson(msgspec.Struct, frozen=True):
    """One executed code cell."""

    code: str
    output: str
    length: int
    """Characters of the whole output, of which `output` may be the beginning."""
    error: str = ""
    calls: list[CallJson] = []
    reads: list[str] = []
    writes: list[str] = []


def read_turn(data: Any) -> TurnJson:
    """Read a played turn.

    Raises:
        BadRecord: it is not one.
    """
    return _read(data, TurnJson)


def read_question(data: Any) -> Question:
    """Read a question for the model; the same errors."""
    return _read(data, Question)


def read_cell(data: Any) -> CellJson:
    """Read a report of a cell; the same errors."""
    return _read(data, CellJson)


def lost_turn(query: str, message: str, cause: str) -> dict[str, Any]:
    """Return the record of a turn in which the worker was lost, as the model's doing."""
    return {"query": query, "lost": message, "cause": cause}


def _read(data: Any, form: type[FormT]) -> FormT:
    try:
        return msgspec.convert(data, form)
    except msgspec.ValidationError as error:
        raise BadRecord(str(error)) from None
