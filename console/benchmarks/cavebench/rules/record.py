"""The recorded output of a conversation, scored turn by turn.

The code in a worker may forge its messages, so everything is read strictly; invalid data is a `BadRecord`.
"""

from typing import Any, TypeVar

import msgspec

from console.benchmarks.cavebench.rules.json_values import decode
from console.benchmarks.cavebench.rules.match import ActualCall
from console.benchmarks.cavebench.rules.score import TurnRecord, ValidatorAnswer
from console.core.ready_type import ready_type

FormT = TypeVar("FormT")


class BadRecord(Exception):
    """An invalid record; the message says where."""


class CallJson(msgspec.Struct, frozen=True):
    """One call."""

    function: str
    arguments: Any = None
    call_id: str = ""


class ValidatorJson(msgspec.Struct, frozen=True):
    """The validator's result, or its exception."""

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
    """Reason why the worker ended in this turn; empty if it is still running."""
    cause: str = ""
    trouble: str = ""
    """Exception of the hook or the agent."""

    @property
    def reason(self) -> str:
        """Reason why the turn was not judged by its calls; empty if it was."""
        return f"sandbox_{self.cause or 'died'}" if self.lost else "hook_error" if self.trouble else ""

    def record(self) -> TurnRecord:
        """Return the turn in the format of the evaluator."""
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
    """A message that the agent sends."""

    role: str
    content: str


class Question(msgspec.Struct, frozen=True):
    """The agent's question for the model."""

    messages: list[SentMessage]


class CellJson(msgspec.Struct, frozen=True):
    """One executed code cell."""

    code: str
    output: str
    length: int
    """Characters of the whole output; `output` may be cut."""
    error: str = ""
    calls: list[CallJson] = []
    reads: list[str] = []
    writes: list[str] = []


def read_turn(data: Any) -> TurnJson:
    """Read a played turn.

    Raises:
        BadRecord: invalid.
    """
    return _read(data, TurnJson)


def read_question(data: Any) -> Question:
    """Read a question for the model; raises like `read_turn`."""
    return _read(data, Question)


def read_cell(data: Any) -> CellJson:
    """Read the report of a cell; raises like `read_turn`."""
    return _read(data, CellJson)


def lost_turn(query: str, message: str, cause: str) -> dict[str, Any]:
    """Return the record of a turn in which the model's code ended the worker."""
    return {"query": query, "lost": message, "cause": cause}


def _read(data: Any, form: type[FormT]) -> FormT:
    try:
        return msgspec.convert(data, ready_type(form))
    except msgspec.ValidationError as error:
        raise BadRecord(str(error)) from None
