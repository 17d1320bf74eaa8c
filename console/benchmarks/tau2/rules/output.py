"""The output of a conversation, as journaled."""

import msgspec

from console.benchmarks.tau2.rules.task import Message


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """Output of a conversation."""

    messages: list[Message]
    reason: str = ""
    """The official end; empty if a party fell silent."""
    steps: int = 0
    errors: int = 0
    silent: str = ""
    """Role whose reply was no message."""
    silence: str = ""
    """Why, such as `empty_message`."""
    judge: str | None = None
    """The judge's reply."""
    judge_problem: str = ""
    """Why it cannot be used."""
