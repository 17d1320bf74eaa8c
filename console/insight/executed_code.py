"""Code run for a model (cave-bench), read from a conversation: cells, tool results, turns and the sandbox. Pure.

The notes are `cell` (code, output, calls, reads, writes, error), `tool` (tool, arguments, text), `turn` (its end) and
`sandbox` (the code's confinement). Their values are untrusted and may have any type.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.core.source import SOURCE
from console.insight.passage import Passage, PassageKind, show_json

CELL, TOOL, TURN, SANDBOX = "cell", "tool", "turn", "sandbox"
HIDDEN_PASSAGES = frozenset({"clock", CELL, TURN, "describe", "invoke", "validate", SOURCE})
"""Effects journaled only for replay; readers see notes in the same conversation instead."""
_NEAR = 12
"""Number of preceding passages searched for a repeated text."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One executed piece of code. Texts are untrusted."""

    code: str
    output: str
    hidden: int = 0
    """Characters of output that were dropped."""
    error: str = ""
    calls: tuple[str, ...] = ()
    """Formatted calls of known functions."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    turn: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """Outcome of a turn before judging. Texts are untrusted."""

    steps: int = 0
    tokens: int = 0
    trouble: str = ""
    """Reason for the loss of the worker, or the error of the hook or the agent."""
    validator: bool | None = None
    """None if the turn has no validator or did not reach it."""
    message: str = ""
    """The validator's message."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """Sandbox of the code."""

    missing: tuple[str, ...]
    """Of files, network, processes and system calls, those that are not confined."""
    text: str
    """Sandbox level, as recorded."""


def read_cell(data: Any, turn: int = 0, step: int = 0) -> Cell:
    """Parse a `cell` note."""
    whole = _mapping(data)
    output = str(whole.get("output", ""))
    length = whole.get("length")
    return Cell(
        code=str(whole.get("code", "")).rstrip(),
        output=output.rstrip("\n"),
        hidden=max(length - len(output), 0) if isinstance(length, int) else 0,
        error=str(whole.get("error") or ""),
        calls=tuple(map(_call, _listed(whole.get("calls")))),
        reads=tuple(map(str, _listed(whole.get("reads")))),
        writes=tuple(map(str, _listed(whole.get("writes")))),
        turn=turn,
        step=step,
    )


def read_turn_end(data: Any) -> TurnEnd:
    """Parse a `turn` note."""
    whole, answer = _mapping(data), _mapping(_mapping(data).get("validator"))
    tokens = _listed(whole.get("tokens"))
    trouble = str(answer.get("trouble") or "")
    return TurnEnd(
        steps=_whole(whole.get("steps")),
        tokens=_whole(tokens[-1]) if tokens else 0,
        trouble=str(whole.get("lost") or whole.get("trouble") or ""),
        validator=bool(answer.get("success")) and not trouble if answer else None,
        message=f"raised {trouble}" if trouble else str(answer.get("message") or ""),
    )


def read_confinement(data: Any) -> Confinement:
    """Parse a `sandbox` note."""
    whole = _mapping(data)
    words = {"files": "files", "network": "network", "processes": "processes", "syscalls": "system calls"}
    missing = tuple(word for name, word in words.items() if not whole.get(name))
    return Confinement(missing, str(whole.get("text") or "").removeprefix("sandbox: "))


def tool_call(data: Any) -> tuple[str, str]:
    """Return a `tool` note's formatted call and its result."""
    whole = _mapping(data)
    return str(whole.get("tool", "")), str(whole.get("text", ""))


def cells_of(passages: Iterable[Passage]) -> list[Cell]:
    """Return the cells of a conversation, in order."""
    return [
        read_cell(passage.data, passage.turn, passage.step)
        for passage in passages
        if passage.kind is PassageKind.NOTE and passage.head == CELL
    ]


def code_missing_from_reply(data: Any, passages: Sequence[Passage]) -> str:
    """Return a cell's code; empty if the preceding model message shows it."""
    code = read_cell(data).code
    for passage in reversed(passages[-_NEAR:]):
        if passage.kind is PassageKind.ASSISTANT:
            return "" if code.strip() in passage.text else code
    return code


def is_echo(passage: Passage, passages: Sequence[Passage]) -> bool:
    """Return whether a message only repeats the output of the preceding cell."""
    if passage.kind is not PassageKind.USER or not passage.step:
        return False
    for earlier in reversed(passages[-_NEAR:]):
        if earlier.kind is PassageKind.NOTE and earlier.head == CELL:
            return read_cell(earlier.data).output.strip() in passage.text
    return False


def is_returned(passage: Passage, passages: Sequence[Passage]) -> bool:
    """Return whether a note already showed this tool result."""
    if passage.kind is not PassageKind.RESULT:
        return False
    return any(
        earlier.kind is PassageKind.NOTE and earlier.head == TOOL and tool_call(earlier.data)[1] == passage.text
        for earlier in passages[-_NEAR:]
    )


def _call(item: Any) -> str:
    whole = _mapping(item)
    arguments = whole.get("arguments")
    if isinstance(arguments, dict):
        listed = ", ".join(f"{name}={_value(value)}" for name, value in cast(dict[str, Any], arguments).items())
    else:
        listed = _value(arguments) if arguments is not None else ""
    return f"{whole.get('function', '')}({listed})"


def _value(item: Any) -> str:
    """Format a value on one line; values that JSON cannot represent were recorded as text."""
    foreign = _mapping(_mapping(item).get("$foreign"))
    return str(foreign["repr"]) if "repr" in foreign else show_json(item)


def _mapping(item: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], item) if isinstance(item, dict) else {}


def _listed(item: Any) -> list[Any]:
    return cast(list[Any], item) if isinstance(item, list | tuple) else []


def _whole(item: Any) -> int:
    return item if isinstance(item, int) else 0
