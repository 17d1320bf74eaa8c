"""The human-readable `inference_log` of result lines: messages, decoded calls and results by step.

Roles, keys and sentences are the official ones, so that programs can read the logs of both; only reasons of undecodable
answers are in our own words.

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
from console.benchmarks.bfcl.models.decode.reply import decode_step
from console.benchmarks.bfcl.models.handlers.completion import PROMPT_ROLE
from console.core.ready_type import ready_type
from console.core.record import Asked, Performed
from console.core.request import Thread

_DECODED = "Successfully decoded model response."
_EMPTY = "Empty response from the model. Proceed to next turn."
_UNDECODABLE = "Error decoding the model response. Proceed to next turn."
_TOO_MANY_STEPS = f"Model has been forced to quit after {STEP_LIMIT} steps."

Results = Mapping[tuple[int, int], Sequence[str]]
"""Results of executed calls, by turn and step."""
States = Sequence[Mapping[str, Any]]
"""Public attributes by class, before the first turn and after each turn."""


class _ExecutedCalls(msgspec.Struct, frozen=True):
    """Request of an effect that executed the calls of a step."""

    turn: int
    step: int
    calls: list[Any]


def input_log(calls: Sequence[Asked], *, native: bool) -> list[Line]:
    """Return the inputs of a single-turn entry, one item per model call; `native` ones include the tools."""
    thread = Thread()
    return [_input(thread.expand(call), native=native) for call in calls if call.role == "model"]


def results_of(performed: Sequence[Performed]) -> Results:
    """Return the results of a conversation's executed steps."""
    results: dict[tuple[int, int], Sequence[str]] = {}
    for effect in performed:
        with contextlib.suppress(msgspec.ValidationError):  # another kind of effect, or an edited journal
            request = msgspec.convert(effect.request, ready_type(_ExecutedCalls))
            results[request.turn, request.step] = list(map(str, msgspec.convert(effect.result, list[Any])))
    return results


def conversation_log(
    calls: Sequence[Asked],
    turns: Sequence[Any],
    results: Results,
    family: str,
    *,
    native: bool,
    inputs: bool,
    states: States = (),
) -> list[Any]:
    """Return the log of a conversation.

    Args:
        calls: model calls in order.
        turns: recorded output, turns of steps.
        results: results of executed calls.
        family: the decode family.
        native: tools are sent natively, and belong to the inputs.
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
            items = [_input(asked_here[1], native=native)] if inputs and asked_here else []
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


def _input(thread: Thread, *, native: bool) -> Line:
    """Return the input of a model call; as in the official code, the messages are one string."""
    if thread.messages and thread.messages[0]["role"] == PROMPT_ROLE:
        prompt = "".join(message.get("content") or "" for message in thread.messages)
        return {"role": "inference_input", "content": {"formatted_prompt": prompt}}
    content: Line = {"message": repr(thread.messages)}
    return {"role": "inference_input", "content": content | ({"tools": thread.tools} if native else {})}


def _assistant(output: Any, call: Asked | None) -> Line:
    line: Line = {"role": "assistant", "content": output}
    return line | ({"reasoning_content": call.reply.reasoning} if call and call.reply.reasoning else {})


def _step_results(output: Any, family: str, results: Sequence[str], step: int) -> list[Line]:
    decoded = decode_step(output, family)
    if decoded.error is not None:
        return [_handled(_UNDECODABLE, error=decoded.error)]
    items = [_handled(_DECODED, model_response_decoded=decoded.value)]
    if not decoded.executable:
        return [*items, _handled(_EMPTY, model_response_decoded=decoded.value)]
    items += [{"role": "tool", "content": result} for result in results]
    return [*items, _handled(_TOO_MANY_STEPS)] if step >= STEP_LIMIT else items


def _handled(content: str, **facts: Any) -> Line:
    return {"role": "handler_log", "content": content, **facts}
