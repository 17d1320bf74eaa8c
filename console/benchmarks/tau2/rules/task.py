"""Tasks in the format of the official files, and the messages and output of a conversation."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from console.benchmarks.tau2.rules.domains.world import AGENT

Basis = Literal["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]


class Call(msgspec.Struct, frozen=True):
    """One tool call of a party."""

    id: str
    name: str
    arguments: dict[str, Any]
    requestor: str = AGENT


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a trajectory."""

    role: str
    content: str | None = None
    tool_calls: list[Call] | None = None
    id: str = ""
    """Id of the call that the result answers."""
    requestor: str = AGENT
    """Party that receives the result."""
    error: bool = False


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call that the task expects."""

    name: str
    arguments: dict[str, Any] = {}
    requestor: str = AGENT
    compare_args: list[str] | None = None
    """Arguments to compare; None to use those of the call."""

    def fits(self, call: Call) -> bool:
        """Return whether a call is the expected one. Who calls does not matter, as in the original."""
        if call.name != self.name:
            return False
        names = set(call.arguments) if self.compare_args is None else set(self.compare_args)
        return _chosen(self.arguments, names) == _chosen(call.arguments, names)


class Assertion(msgspec.Struct, frozen=True, omit_defaults=True):
    """One assertion on the final world, or a change of the initial one."""

    env_type: str
    func_name: str
    arguments: dict[str, Any] = {}
    assert_value: bool = True


class Criteria(msgspec.Struct, frozen=True, omit_defaults=True):
    """Criteria of the reward."""

    actions: list[Action] | None = None
    env_assertions: list[Assertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None
    reward_basis: tuple[Basis, ...] = ("DB", "COMMUNICATE")


class InitialState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The world at the beginning."""

    initialization_data: dict[str, dict[str, Any] | None] | None = None
    """Rows to merge into the data, of either party."""
    initialization_actions: list[Assertion] | None = None
    message_history: list[Message] | None = None


class Instructions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Instructions to the simulated user."""

    domain: str
    reason_for_call: str
    task_instructions: str
    known_info: str | None = None
    unknown_info: str | None = None


class Scenario(msgspec.Struct, frozen=True, omit_defaults=True):
    """The simulated user's persona and goal."""

    instructions: Instructions | str
    persona: str | None = None


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task."""

    id: str
    user_scenario: Scenario
    evaluation_criteria: Criteria | None = None
    initial_state: InitialState | None = None
    ticket: str | None = None

    @property
    def criteria(self) -> Criteria:
        """Criteria of the reward; a task without criteria expects nothing."""
        return self.evaluation_criteria or Criteria()

    @property
    def needs_judge(self) -> bool:
        """True if a judge decides a part of the reward."""
        return "NL_ASSERTION" in self.criteria.reward_basis and bool(self.criteria.nl_assertions)

    @property
    def earlier_messages(self) -> list[Message]:
        """Messages that precede the conversation."""
        return (self.initial_state and self.initial_state.message_history) or []

    @property
    def request(self) -> str:
        """The first words of the user's instructions: the reason for the call."""
        instructions = self.user_scenario.instructions
        return instructions.reason_for_call if isinstance(instructions, Instructions) else instructions


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """Output of a conversation."""

    messages: list[Message]
    reason: str = ""
    """The official end; empty if a party fell silent."""
    steps: int = 0
    errors: int = 0
    silent: str = ""
    """Role whose reply was not a message."""
    silence: str = ""
    """Reason why it was not a message, such as `empty_message`."""
    judge: str | None = None
    """The judge's reply."""
    judge_problem: str = ""
    """Error in the judge's reply."""


def calls_of(messages: Sequence[Message]) -> list[Call]:
    """Return all calls, in order."""
    return [call for message in messages for call in message.tool_calls or ()]


def _chosen(arguments: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name in names}
