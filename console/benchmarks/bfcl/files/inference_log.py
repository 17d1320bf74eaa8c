"""The human-readable `inference_log` of result lines: messages, decoded calls and results by step.

    [state of the simulators]?, then for each turn
    {"begin_of_turn_query": [messages], "step_0": [items], …}, [state of the simulators]?

Items have a role: `inference_input` (optional), `assistant`, `handler_log`, `tool`. States are optional and exist only
with simulators.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from console.benchmarks.bfcl.conversation.multi_turn import STEP_LIMIT
from console.benchmarks.bfcl.files.layout import Line
from console.benchmarks.bfcl.models.decode.reply import executable_calls
from console.core.record import Asked, Performed
from console.core.request import Thread

Results = Mapping[tuple[int, int], Sequence[str]]
"""Results of executed calls, by turn and step."""
States = Sequence[Mapping[str, Any]]
"""Public attributes by class, before the first turn and after each turn."""


class _ExecutedCalls(msgspec.Struct, frozen=True):
    """Request of an effect that executed the calls of a step."""

    turn: int
    step: int
    calls: list[Any]


def input_log(calls: Sequence[Asked]) -> list[Line]:
    """Return the inputs of a single-turn entry, one item per model call."""
    thread = Thread()
    return [_input(thread.expand(call)) for call in calls if call.role == "model"]


def results_of(performed: Sequence[Performed]) -> Results:
    """Return the results of a conversation's executed steps."""
    results: dict[tuple[int, int], Sequence[str]] = {}
    for effect in performed:
        with contextlib.suppress(msgspec.ValidationError):  # another kind of effect, or an edited journal
            request = msgspec.convert(effect.request, _ExecutedCalls)
            results[request.turn, request.step] = list(map(str, msgspec.convert(effect.result, list[Any])))
    return results


def conversation_log(
    calls: Sequence[Asked], turns: Sequence[Any], results: Results, family: str, *, inputs: bool, states: States = ()
) -> list[Any]:
    """Return the log of a conversation.

    Args:
        calls: model calls in order.
        turns: recorded output, turns of steps.
        results: results of executed calls.
        family: the decode family.
        inputs: include the inputs of model calls.
        states: states of the simulators; empty: omit them.
    """
    thread = Thread()
    calls_by_step = {(call.turn, call.step): (call, thread.expand(call)) for call in calls if call.role == "model"}
    log: list[Any] = [_state(states[0])] if states and states[0] else []
    for turn, steps in enumerate(turns):
        first = calls_by_step.get((turn, 0))
        entry: Line = {"begin_of_turn_query": _turn_messages(first[1].messages) if first else []}
        for step, output in enumerate(cast("list[Any]", steps) if isinstance(steps, list) else []):
            asked_here = calls_by_step.get((turn, step))
            items = [_input(asked_here[1])] if inputs and asked_here else []
            items.append(_assistant(output, asked_here[0] if asked_here else None))
            entry[f"step_{step}"] = items + _step_results(output, family, results.get((turn, step), ()), step)
        log.append(entry)
        if turn + 1 < len(states) and states[turn + 1]:
            log.append(_state(states[turn + 1]))
    return log


def _state(state: Mapping[str, Any]) -> list[Line]:
    return [{"role": "state_info", "class_name": name, "content": content} for name, content in state.items()]


def _turn_messages(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages after the last answer, which started the turn."""
    last = max((number for number, message in enumerate(messages) if message.get("role") == "assistant"), default=-1)
    return list(messages[last + 1 :])


def _input(thread: Thread) -> Line:
    return {"role": "inference_input", "content": {"message": thread.messages, "tools": thread.tools}}


def _assistant(output: Any, call: Asked | None) -> Line:
    line: Line = {"role": "assistant", "content": output}
    return line | ({"reasoning_content": call.reply.reasoning} if call and call.reply.reasoning else {})


def _step_results(output: Any, family: str, results: Sequence[str], step: int) -> list[Line]:
    decoded = executable_calls(output, family)
    if not decoded:
        return [{"role": "handler_log", "content": "No call in this reply: the turn ends.", "error": "no call"}]
    items: list[Line] = [{"role": "handler_log", "content": "Decoded.", "model_response_decoded": decoded}]
    items += [{"role": "tool", "content": result} for result in results]
    if step >= STEP_LIMIT:
        items.append({"role": "handler_log", "content": f"The conversation is ended after {STEP_LIMIT} steps."})
    return items
