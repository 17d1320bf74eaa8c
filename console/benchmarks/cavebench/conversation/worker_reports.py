"""Bounds what a worker may report: the model's code runs in it and may forge any message.

In a cave-mode turn the model is asked, its code runs as one cell, and the model is asked again. Messages out of order,
or longer than the program ever sends, are forged; they end the worker and fail the turn. So a turn cannot add more to
the journal than its replies, and the outputs shown to the model, account for.
"""

from typing import Any

import msgspec

from console.benchmarks.cavebench.rules.json_values import CALLS_BYTES, SHOWN
from console.benchmarks.cavebench.rules.record import BadRecord, CellJson, Question, TurnJson

_TURN_BYTES = 4 << 20
"""Maximum length of a turn's record, as JSON."""
_QUESTION_SLACK = 256 << 10
"""Maximum characters by which a question may exceed the exchange so far: its query, and text around outputs."""
_CODE_SLACK = 1000
_NAMES_PER_CODE = 40
"""Maximum length of the names that a cell reads and writes, per character of its code; one character may expand to
eighteen.
"""
_ERROR = 200


class ReportGuard:
    """Checks the next report of a conversation's worker."""

    def __init__(self, max_steps: int, max_output: int) -> None:
        """Start with an empty conversation."""
        self._max_steps, self._max_output = max_steps, max_output
        self._asked = self._reply = self._replies = self._tokens = self._output = 0
        self._question: int | None = None
        self._cell_is_due = False

    @property
    def step(self) -> int:
        """Zero-based index of the turn's last question."""
        return max(0, self._asked - 1)

    @property
    def is_answered(self) -> bool:
        """True once the model has answered in this conversation, because its code cannot have run before."""
        return self._question is not None

    def begin_turn(self) -> None:
        self._asked = self._replies = self._tokens = 0
        self._cell_is_due = False

    def question(self, question: Question) -> None:
        """Check a question for the model.

        Raises:
            BadRecord: out of order, one too many, or longer than the conversation allows.
        """
        if self._asked >= self._max_steps:
            raise BadRecord("the turn has no more steps")
        if self._cell_is_due:
            raise BadRecord("the previous cell was not reported")
        size = sum(len(message.content) for message in question.messages)
        if self._question is not None and size > self._question + self._reply + self._output + _QUESTION_SLACK:
            raise BadRecord("it is longer than the conversation allows")
        self._asked += 1
        self._question, self._output = size, 0

    def reply(self, content: str, tokens: int) -> None:
        """Record the model's answer to the last question and its tokens."""
        self._reply, self._cell_is_due = len(content), True
        self._replies += len(content)
        self._tokens += tokens

    def cell(self, cell: CellJson) -> None:
        """Check the report of a cell.

        Raises:
            BadRecord: out of order, or longer than the program sends.
        """
        if not self._cell_is_due:
            raise BadRecord("no reply of the model is waiting for a cell")
        names = sum(len(name) for name in (*cell.reads, *cell.writes))
        if len(cell.code) > self._reply + _CODE_SLACK or names > _NAMES_PER_CODE * len(cell.code):
            raise BadRecord("its code is longer than the reply")
        if not len(cell.output) <= min(cell.length, SHOWN) or len(cell.error) > _ERROR:
            raise BadRecord("its output is longer than stated or allowed")
        if _size(cell.calls) > CALLS_BYTES:
            raise BadRecord("it reports too many calls")
        self._cell_is_due = False
        self._output = min(cell.length, self._max_output)

    def turn(self, record: Any, turn: TurnJson) -> None:
        """Check the record of a turn, as sent and as read.

        Raises:
            BadRecord: too long, not storable in a journal, or with more code, steps or tokens than the turn had.
        """
        size = _size(record)
        if size > _TURN_BYTES:
            raise BadRecord(f"it has {size} bytes, more than {_TURN_BYTES}")
        if sum(map(len, turn.snippets)) > self._replies + _CODE_SLACK:
            raise BadRecord("its code is longer than the replies")
        if not 0 <= turn.steps <= self._max_steps or not all(0 <= count <= self._tokens for count in turn.tokens):
            raise BadRecord("its steps or tokens differ from those of the replies")


def _size(data: Any) -> int:
    try:
        return len(msgspec.json.encode(data))
    except (OverflowError, ValueError, TypeError, RecursionError) as error:
        raise BadRecord(f"it cannot be stored: {error}") from None
