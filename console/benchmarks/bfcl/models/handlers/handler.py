"""What the loops of a conversation ask of a handler: what is sent, what a reply means, how results are shown."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from console.benchmarks.bfcl.conversation.rendering import Doc
from console.core.chat import Message, Reply


class UnreadableAnswer(Exception):
    """An answer that breaks the official handler; it ends the entry, and the error's text is the result."""


@contextmanager
def answers_may_break() -> Generator[None]:
    """Tell answers that break a handler from mistakes elsewhere.

    Raises:
        UnreadableAnswer: an answer has not the form that the handler takes.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableAnswer(str(error)) from error


Turn = dict[str, Any]
"""One message of a conversation in a handler's own form, from which it makes what is sent."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply means."""

    output: Any
    """The value of the official result file."""
    message: Turn
    """What the following requests show of it."""


class Handler(Protocol):
    """One way to speak to a model. Stateless: everything it needs is given."""

    @property
    def native(self) -> bool:
        """Whether withheld functions join the tools; else their documents are told to the model in words."""
        ...

    @property
    def described_in_prompt(self) -> bool:
        """Whether the benchmark's system prompt describes the functions."""
        ...

    @property
    def call_format(self) -> str:
        """How simulated models write calls in texts, a name of `call_format`; empty: as the benchmark's prompt says."""
        ...

    def params(self, *, long: bool) -> Mapping[str, Any]:
        """Return fields that requests carry beside the model's own; `long` in conversations of several requests."""
        ...

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        """Return the dataset's messages of a turn as this handler keeps them; `docs` are the functions on offer."""
        ...

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        """Return the (hinted) documents as they are sent beside the messages; empty where they stand in the text."""
        ...

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        """Return the messages to send.

        Args:
            history: the whole conversation.
            docs: the functions on offer.
            asked_before: how many requests this conversation made.

        Raises:
            ValueError: an answer of the model cannot be shown again.
        """
        ...

    def read(self, reply: Reply) -> Answer:
        """Return what a reply means.

        Raises:
            ValueError: the official code ends the entry here with an error.
        """
        ...

    def calls(self, output: Any) -> list[str]:
        """Return the texts of the calls to execute; empty when there are none, which ends the turn. Never raises."""
        ...

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        """Return the messages that show the results of executed calls."""
        ...
