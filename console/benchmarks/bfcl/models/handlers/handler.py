"""`Handler`: the interface that conversation loops use to build requests, parse replies and show results."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from console.benchmarks.bfcl.data.rendering import Doc
from console.core.chat import Message, Reply


class UnreadableAnswer(Exception):
    """An answer that crashes the official handler, which ends the entry with the error text as result."""


@contextmanager
def answers_may_break() -> Generator[None]:
    """Convert errors of a handler to `UnreadableAnswer`.

    Raises:
        UnreadableAnswer: the answer has an unexpected format.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableAnswer(str(error)) from error


Turn = dict[str, Any]
"""One message of a conversation in the handler's internal format."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed reply."""

    output: Any
    """Value for the official result file."""
    message: Turn
    """Message for the following requests."""


class Handler(Protocol):
    """Stateless interface to one kind of model."""

    @property
    def native(self) -> bool:
        """True if withheld functions are added to the tools; otherwise their documents are sent in a message."""
        ...

    @property
    def described_in_prompt(self) -> bool:
        """True if the benchmark's system prompt describes the functions."""
        ...

    @property
    def call_format(self) -> str:
        """Call format of simulated models, a key in `call_format`; empty: that of the benchmark's prompt."""
        ...

    def params(self, docs: Sequence[Doc], *, long: bool) -> Mapping[str, Any]:
        """Return additional request fields.

        Args:
            docs: the available functions.
            long: the conversation has several requests.
        """
        ...

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        """Convert the dataset's messages of a turn to the internal format; `docs` are the available functions."""
        ...

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        """Return the tools to send for documents (with hints); empty if they are in the prompt."""
        ...

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        """Return the messages to send.

        Args:
            history: the whole conversation.
            docs: the available functions.
            asked_before: number of earlier requests in this conversation.

        Raises:
            ValueError: an answer of the model cannot be resent.
        """
        ...

    def read(self, reply: Reply) -> Answer:
        """Parse a reply.

        Raises:
            ValueError: the official code fails here and ends the entry.
        """
        ...

    def calls(self, output: Any) -> list[str]:
        """Return the call strings to execute, or an empty list, which ends the turn; never raises."""
        ...

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        """Return the messages with the results of executed calls."""
        ...
