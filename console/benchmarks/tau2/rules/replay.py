"""The world of a task: at the beginning, after the calls of a conversation, and after the expected calls. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import Difference, Result, World, differing
from console.benchmarks.tau2.rules.task import Action, Call, Message, Task, calls_of
from console.core.json_text import read_json


class ReplayError(ValueError):
    """A trajectory cannot be replayed: results are missing, mixed up or, if strict, different."""


@dataclass(frozen=True)
class Trial:
    """A conversation of a task, with the worlds after it and after the expected calls, each computed on first use."""

    domain: Domain
    task: Task
    messages: Sequence[Message]
    solo: bool = False
    strict: bool = False
    """True if recorded results must equal those of our tools."""

    @cached_property
    def calls(self) -> list[Call]:
        """All calls, in order."""
        return calls_of(self.messages)

    @cached_property
    def missing(self) -> list[Action]:
        """The expected calls that nobody made."""
        return [action for action in self.task.criteria.actions or () if not any(map(action.fits, self.calls))]

    @cached_property
    def world(self) -> World:
        """The world after the conversation.

        Raises:
            ReplayError: see `replayed`.
        """
        return replayed(self.domain, self.task, self.messages, strict=self.strict, solo=self.solo)

    @cached_property
    def expected(self) -> World:
        """The world after the expected calls; as in the original, failing ones are skipped, and parties not synced."""
        world = begun(self.domain, self.task)
        carry_out(world, self.task.criteria.actions or ())
        return world

    @cached_property
    def differences(self) -> list[Difference]:
        """The rows in which the two worlds differ.

        Raises:
            ReplayError: see `replayed`.
        """
        return differing(self.world, self.expected)

    def is_write(self, call: Call | Action) -> bool:
        """Return whether a call's tool changes the world."""
        return self.domain.kind_of(call.requestor, call.name) == "write"


def begun(domain: Domain, task: Task, *, solo: bool = False) -> World:
    """Return the world in which a conversation begins, after its earlier messages.

    Raises:
        ReplayError: see `replayed`.
    """
    return replayed(domain, task, task.earlier_messages, solo=solo)


def replayed(
    domain: Domain, task: Task, messages: Sequence[Message], *, strict: bool = False, solo: bool = False
) -> World:
    """Return the world of a task after the writing calls of a trajectory.

    Raises:
        ReplayError: a function of the task's beginning is unknown or fails, calls and results do not belong together,
            or, if strict, a result differs.
    """
    state = task.initial_state
    data = (state and state.initialization_data) or {}
    world = domain.world(filter(None, data.values()))
    world.is_solo = solo
    for action in (state and state.initialization_actions) or ():
        try:
            world.run(action.func_name, action.arguments)
        except Exception as error:  # functions of the data, with arguments of the data
            raise ReplayError(f"{action.func_name} of the task's beginning: {error}") from error
    for call, recorded in answered(messages):
        tool = world.tools(call.requestor, call.name).get(call.name)
        if tool is None or tool.kind != "write":
            continue
        result = world.call(call.requestor, call.name, call.arguments)
        if strict and not _is_same(result, recorded.content or ""):
            raise ReplayError(f"{call.name} returned {result.content}, but {recorded.content} was recorded")
    return world


def carry_out(world: World, actions: Sequence[Action]) -> None:
    """Make expected calls; as in the original, without the exchange between the parties that follows other calls."""
    for action in actions:
        world.call(action.requestor, action.name, action.arguments, sync=False)


def answered(messages: Sequence[Message]) -> Iterator[tuple[Call, Message]]:
    """Yield each call with its result.

    Raises:
        ReplayError: they do not follow each other in order.
    """
    rest = iter(messages)
    for message in rest:
        if message.role == "tool":
            raise ReplayError("a tool result without a call before it")
        for call in message.tool_calls or ():
            result = next(rest, None)
            if result is None or result.role != "tool":
                raise ReplayError(f"the call {call.id or call.name} has no result")
            if result.id != call.id:
                raise ReplayError(f"the result of {call.id} is that of {result.id}")
            yield call, result


def _is_same(result: Result, recorded: str) -> bool:
    if result.is_own:
        return recorded.startswith("Error: ")
    return _parsed(result.content) == _parsed(recorded)


def _parsed(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return text
