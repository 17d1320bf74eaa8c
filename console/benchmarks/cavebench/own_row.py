"""A conversation of native calls as a row of a suite of questions in a file. Pure."""

from typing import Any

from console.benchmarks.cavebench.rules.expectation import ExpectedCall, read_expectation
from console.core.fault import UsageError
from console.suites.own_row import OwnRow, RecordedCase, Row, conversation_row, is_checked


def own_row(recorded: RecordedCase) -> OwnRow:
    """Return a conversation as a row whose turns expect its calls, or without checks if none can express the verdict.

    Raises:
        UsageError: a hook changes the scenario between turns, or its tools have a state.
    """
    row = conversation_row(recorded)
    expected: list[dict[str, Any]] = recorded.case.data["conversation"]["turns"]
    if any(turn.get("pre_turn_hook") for turn in expected):
        raise UsageError("its scenario's code changes state between turns, which a row cannot do")
    try:
        turns = [_turn(turn, number) for number, turn in enumerate(expected, start=1)]
    except _NotExpressible as error:
        return OwnRow(row, str(error))
    row = {name: value for name, value in row.items() if name != "prompt"} | {"turns": turns}
    return OwnRow(row, "" if is_checked(row) else "no turn of it expects a call")


class _NotExpressible(Exception):
    """No check of a row can express the verdict; the message says why."""


def _turn(turn: dict[str, Any], number: int) -> Row:
    expectation = read_expectation(turn)
    if turn.get("validator"):
        raise _NotExpressible(f"turn {number} is judged by its scenario's code, which no check can express")
    if expectation.reads or expectation.writes:
        raise _NotExpressible(f"turn {number} expects variables to be read or written, which no check can express")
    calls = [_call(call, number) for call in expectation.calls]
    return {"user": turn.get("query", ""), "expect": [{"calls": calls}] if calls else []}


def _call(call: ExpectedCall, number: int) -> Row:
    if not call.required:
        raise _NotExpressible(f"turn {number} may leave out its call of {call.name}, which no check can express")
    free = next((item.name for item in call.arguments if item.value is None), "")
    if free:
        raise _NotExpressible(f"turn {number} takes any {free} in its call of {call.name}, which no check can express")
    values = {item.name: [item.value, *([] if item.required else [""])] for item in call.arguments}
    return {call.name: values}
