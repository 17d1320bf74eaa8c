"""Passages of a transcript: what was said, called, returned, measured and decided, in the order it happened.

A passage holds foreign text as it was recorded; whoever draws it cleans it.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from console.core.chat import ToolCall, Usage

JSON_DEPTH = 12
"""Levels of nested JSON that are spelled out; deeper ones are cut."""


class PassageKind(StrEnum):
    """What a passage of a transcript is."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    CALL = "call"
    RESULT = "result"
    SCORE = "score"
    NOTE = "note"
    TRY = "failed try"
    VERDICT = "verdict"


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of a transcript."""

    kind: PassageKind
    text: str = ""
    """What was said or returned; the arguments as written for a call."""
    head: str = ""
    """Name of the called function, of the score or of the note; fault kind of a failed try."""
    role: str = "model"
    """Which model took part: `model` or `judge`."""
    turn: int = 0
    step: int = 0
    n: int = 0
    """Number of the call within the conversation; 0 for what belongs to none."""
    arguments: tuple[tuple[str, str], ...] | None = None
    """Arguments of a call as (name, JSON text); None when they could not be read."""
    complaint: str = ""
    """Why the arguments of a call could not be read."""
    value: float | None = None
    """Value of a score."""
    threshold: float | None = None
    """Threshold of a score; seconds until the next try of a failed one."""
    usage: Usage | None = None
    """Tokens of the call, on the first passage of a reply."""
    latency_s: float | None = None
    """Seconds the call took, on the first passage of a reply."""
    answered_by: str = ""
    """Name of the model as the server gave it, on the first passage of a reply."""
    streaming: bool = False
    """Whether more text may come."""
    data: Any = None
    """What a note holds, JSON values."""
    repeats: bool = False
    """Whether it says again what another passage shows already."""


def call_passage(call: ToolCall, *, role: str = "model", turn: int = 0, step: int = 0, n: int = 0) -> Passage:
    """Return the passage of one native tool call, with its arguments read if they can be."""
    arguments, complaint = read_arguments(call.arguments)
    return Passage(
        PassageKind.CALL,
        call.arguments,
        head=call.name,
        role=role,
        turn=turn,
        step=step,
        n=n,
        arguments=arguments,
        complaint=complaint,
    )


def read_arguments(text: str) -> tuple[tuple[tuple[str, str], ...] | None, str]:
    """Read the arguments of a call from the JSON text the model wrote.

    Returns:
        (name, JSON text) pairs and no complaint, or None and the parser's complaint.
    """
    try:
        value: Any = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        return None, f"the arguments are not valid JSON: {error}"
    if not isinstance(value, dict):
        return None, f"the arguments are not an object but {type(value).__name__}"
    return tuple((name, show_json(item)) for name, item in cast(dict[str, Any], value).items()), ""


def show_json(value: Any) -> str:
    """Return a JSON value on one line, cut below `JSON_DEPTH` levels; strings stay readable, not escaped to ASCII."""
    return json.dumps(_cut(value, JSON_DEPTH), ensure_ascii=False, default=repr)


def show_json_lines(value: Any) -> str:
    """Return a JSON value over several lines, in the manner of `show_json`."""
    return json.dumps(_cut(value, JSON_DEPTH), ensure_ascii=False, indent=2, default=repr)


def _cut(value: Any, depth: int) -> Any:
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return "…"
    if isinstance(value, dict):
        return {str(name): _cut(item, depth - 1) for name, item in cast(dict[Any, Any], value).items()}
    return [_cut(item, depth - 1) for item in cast(list[Any], value)]
