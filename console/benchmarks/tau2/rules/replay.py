"""The world of a task: at the beginning, after the calls of a conversation, and after the expected calls. Pure."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import Result, World
from console.benchmarks.tau2.rules.task import Call, Message, Task


class ReplayError(ValueError):
    """A trajectory cannot be carried out again: results are missing, mixed up or, if strict, others."""


def begun(domain: Domain, task: Task, *, solo: bool = False) -> World:
    """Return the world in which a conversation begins, after its earlier messages.

    Raises:
        ReplayError: see `opened` and `replayed`.
    """
    return replayed(domain, task, task.earlier_messages, strict=False, solo=solo)


def opened(domain: Domain, task: Task, *, solo: bool = False) -> World:
    """Return the world in which a task begins, before its earlier messages.

    Raises:
        ReplayError: a function of the task is unknown or fails.
    """
    state = task.initial_state
    data = state and state.initialization_data
    world = domain.world(data and data.agent_data, data and data.user_data)
    world.is_solo = solo
    for action in (state and state.initialization_actions) or ():
        try:
            world.run(action.env_type, action.func_name, action.arguments)
        except Exception as error:  # functions of the data, with arguments of the data
            raise ReplayError(f"{action.func_name} of the task's beginning: {error}") from error
    return world


def replayed(domain: Domain, task: Task, messages: Sequence[Message], *, strict: bool, solo: bool = False) -> World:
    """Return the world after the writing calls of a trajectory.

    Raises:
        ReplayError: calls and results do not belong together, or, if strict, a result differs.
    """
    world = opened(domain, task, solo=solo)
    for call, recorded in answered(messages):
        tool = world.find_tool(call.requestor, call.name)
        if tool is None or tool.kind != "write":
            continue
        result = world.call(call.requestor, call.name, call.arguments)
        if strict and not _is_same(result, recorded.content or ""):
            raise ReplayError(f"{call.name} returned {result.content}, recorded was {recorded.content}")
    return world


def expected(domain: Domain, task: Task) -> World:
    """Return the world after the expected calls, which nothing follows; failing ones are skipped, as officially."""
    world = begun(domain, task)
    for action in task.criteria.actions or ():
        world.call(action.requestor, action.name, action.arguments, sync=False)
    return world


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
        return json.loads(text)
    except ValueError:
        return text
