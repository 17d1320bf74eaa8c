"""Code that a model had run (cave-bench), read from a conversation: cells, tool results, turns and the sandbox. Pure.

The notes are `cell` (code, output, calls, reads, writes, error), `tool` (tool, arguments, text), `turn` (how it ended)
and `sandbox` (what confines the code). Their values are foreign and may be anything, so everything is read with care.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.core.source import SOURCE
from console.insight.passage import Passage, PassageKind, show_json

CELL, TOOL, TURN, SANDBOX = "cell", "tool", "turn", "sandbox"
HIDDEN_PASSAGES = frozenset({"clock", CELL, TURN, "describe", "invoke", "validate", SOURCE})
"""Effects that are journaled for a resume; notes of the same conversation say what a reader wants to know of them."""
_NEAR = 12
"""Passages back in which a repeated text is looked for."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One piece of code that was run. Texts are foreign."""

    code: str
    output: str
    hidden: int = 0
    """Characters of the output that were not kept."""
    error: str = ""
    calls: tuple[str, ...] = ()
    """Calls of known functions, written out."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    turn: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn came out, before it is judged. Texts are foreign."""

    steps: int = 0
    tokens: int = 0
    trouble: str = ""
    """How the worker was lost, or what the hook or the agent raised."""
    validator: bool | None = None
    """None: the turn has no validator, or it was not reached."""
    message: str = ""
    """The validator's."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What confines the code."""

    missing: tuple[str, ...]
    """Of files, network, processes, system calls: those that are open."""
    text: str
    """The level in the record's words."""


def read_cell(data: Any, turn: int = 0, step: int = 0) -> Cell:
    """Read a `cell` note."""
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
    """Read a `turn` note."""
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
    """Read a `sandbox` note."""
    whole = _mapping(data)
    words = {"files": "files", "network": "network", "processes": "processes", "syscalls": "system calls"}
    missing = tuple(word for name, word in words.items() if not whole.get(name))
    return Confinement(missing, str(whole.get("text") or "").removeprefix("sandbox: "))


def tool_call(data: Any) -> tuple[str, str]:
    """Return a `tool` note's call, written out, and what it returned."""
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
    """Return the code of a cell, or nothing when the model's message just above shows it."""
    code = read_cell(data).code
    for passage in reversed(passages[-_NEAR:]):
        if passage.kind is PassageKind.ASSISTANT:
            return "" if code.strip() in passage.text else code
    return code


def is_echo(passage: Passage, passages: Sequence[Passage]) -> bool:
    """Whether a message only tells the model what the cell above printed."""
    if passage.kind is not PassageKind.USER or not passage.step:
        return False
    for earlier in reversed(passages[-_NEAR:]):
        if earlier.kind is PassageKind.NOTE and earlier.head == CELL:
            return read_cell(earlier.data).output.strip() in passage.text
    return False


def is_returned(passage: Passage, passages: Sequence[Passage]) -> bool:
    """Whether a tool's result was shown when it came, by a note."""
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
    """Return a value on one line; what JSON cannot carry is recorded with its own text."""
    foreign = _mapping(_mapping(item).get("$foreign"))
    return str(foreign["repr"]) if "repr" in foreign else show_json(item)


def _mapping(item: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], item) if isinstance(item, dict) else {}


def _listed(item: Any) -> list[Any]:
    return cast(list[Any], item) if isinstance(item, list | tuple) else []


def _whole(item: Any) -> int:
    return item if isinstance(item, int) else 0
