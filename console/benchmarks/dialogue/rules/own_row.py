"""Conversion of a played case back to a row, with the defaults of its suite filled in."""

from typing import Any

import msgspec
from msgspec.structs import replace

from console.benchmarks.dialogue.rules.script import Script, Turn
from console.suites.own_row import RecordedCase, Row, recorded_answers


def own_row(script: Script, recorded: RecordedCase) -> Row:
    """Return the row of a script, with the recorded answers."""
    row = _opening(script)
    row |= {"system": script.system, "tools": [tool["function"] for tool in script.tools]}
    row |= {"tool_results": msgspec.to_builtins(script.tool_results), "expect": script.expect}
    row |= _files(script.turns[0]) if script.turns else {}
    row |= {"choices": script.choices, "shuffle": script.shuffle} if script.choices else {}
    row |= {"judge": msgspec.to_builtins(script.rubric)} if script.rubric is not None else {}
    answers: Row = msgspec.to_builtins(script.simulated) if script.simulated is not None else {}
    simulated = {**answers, "recorded": recorded_answers(recorded.requests)}
    return {name: value for name, value in {**row, "simulated": simulated}.items() if value}


def _opening(script: Script) -> Row:
    if script.user is not None:
        return {"user": msgspec.to_builtins(script.user)}
    if script.messages:
        return {"messages": [*script.messages, {"role": "user", "content": script.turns[0].user}]}
    if len(script.turns) == 1 and not script.turns[0].expect:
        return {"prompt": script.turns[0].user}
    first, *others = script.turns
    return {"turns": [_turn(replace(first, files=[])), *map(_turn, others)]}


def _turn(turn: Turn) -> Any:
    files = _files(turn)
    return {"user": turn.user, "expect": turn.expect, **files} if turn.expect or files else turn.user


def _files(turn: Turn) -> Row:
    return {"files": [file.path for file in turn.files]} if turn.files else {}
