"""A conversation of native calls as a row of a suite of questions in a file. Pure."""

from typing import Any

from console.benchmarks.cavebench.rules.expectation import ExpectedCall, read_expectation
from console.core.fault import UsageError
from console.suites.own_row import OwnRow, RecordedCase, Row, conversation_row


def own_row(recorded: RecordedCase) -> OwnRow:
    """Return a conversation as a row whose turns expect its calls.

    Raises:
        UsageError: a turn is judged by something that no check of a row says, or its tools have a state.
    """
    row = conversation_row(recorded)
    expected: list[dict[str, Any]] = recorded.case.data["conversation"]["turns"]
    turns: list[Row] = []
    for number, turn in enumerate(expected, start=1):
        if turn.get("validator") or turn.get("pre_turn_hook"):
            raise UsageError(f"turn {number} is judged or prepared by code of its scenario, which a row does not have")
        wanted = read_expectation(turn)
        if wanted.reads or wanted.writes:
            raise UsageError(f"turn {number} expects variables to be read or written, and a row has only calls")
        calls = [_call(call, number) for call in wanted.calls]
        turns.append({"user": turn.get("query", ""), "expect": [{"calls": calls}] if calls else []})
    row = {name: value for name, value in row.items() if name != "prompt"} | {"turns": turns}
    is_checked = any(turn["expect"] for turn in turns)
    return OwnRow(row, "" if is_checked else "no turn of it expects a call")


def _call(call: ExpectedCall, number: int) -> Row:
    if not call.required:
        raise UsageError(f"turn {number} may leave out its call of {call.name}, which no check says")
    free = next((item.name for item in call.arguments if item.value is None), "")
    if free:
        raise UsageError(f"turn {number} takes any {free} in its call of {call.name}, which no check says")
    values = {item.name: [item.value, *([] if item.required else [""])] for item in call.arguments}
    return {call.name: values}
