"""Passages of a transcript: messages, calls, results, scores and verdicts in order.

Passages hold untrusted text as recorded; front ends must sanitize it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from console.core.chat import ToolCall, Usage

if TYPE_CHECKING:
    from console.core.media import Media

JSON_DEPTH = 12
"""Levels of nested JSON that are written out; deeper ones are cut."""


class PassageKind(StrEnum):
    """Kind of a transcript passage."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    CALL = "call"
    RESULT = "result"
    SCORE = "score"
    NOTE = "note"
    TRY = "failed try"
    THREAD = "thread"
    """A whole conversation other than the main one, such as that of a sub-agent."""
    VERDICT = "verdict"


class ShownMedia(NamedTuple):
    """An image, audio clip or file of a message."""

    media: "Media"
    read: Callable[[], bytes | None]
    """Reads its bytes from the run's folder; None if they are gone."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of a transcript."""

    kind: PassageKind
    text: str = ""
    """Message or result text; for a call, its arguments as written."""
    head: str = ""
    """Name of the function, score or note; fault kind of a failed try; first words of a thread."""
    role: str = "model"
    """Role of the model: `model` or `judge`."""
    turn: int = 0
    step: int = 0
    n: int = 0
    """Number of the call within the conversation; 0 if there is no call."""
    arguments: tuple[tuple[str, str], ...] | None = None
    """Arguments of a call as (name, JSON text); None if they could not be parsed."""
    complaint: str = ""
    """Parser error for a call's arguments."""
    value: float | None = None
    """Value of a score; for a thread, its number of calls."""
    threshold: float | None = None
    """Threshold of a score; for a failed try, seconds until the next."""
    usage: Usage | None = None
    """Tokens of the call, on the first passage of a reply."""
    latency_s: float | None = None
    """Seconds the call took, on the first passage of a reply."""
    answered_by: str = ""
    """Model name returned by the server, on the first passage of a reply."""
    streaming: bool = False
    """True if more text may come."""
    data: Any = None
    """JSON data of a note."""
    media: tuple[ShownMedia, ...] = ()
    passages: tuple["Passage", ...] = ()
    """Passages of a thread."""
    repeats: bool = False
    """True if another passage already shows the same content."""


def call_passage(call: ToolCall, *, role: str = "model", turn: int = 0, step: int = 0, n: int = 0) -> Passage:
    """Return the passage of a native tool call, with its arguments parsed if possible."""
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
    """Parse the arguments of a call from the model's JSON text.

    Returns:
        (name, JSON text) pairs and an empty error, or None and the parser's error.
    """
    try:
        value: Any = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        return None, f"the arguments are not valid JSON: {error}"
    if not isinstance(value, dict):
        return None, f"the arguments are not an object but {type(value).__name__}"
    return tuple((name, show_json(item)) for name, item in cast(dict[str, Any], value).items()), ""


def show_json(value: Any) -> str:
    """Format JSON on one line, cut below `JSON_DEPTH` levels, with non-ASCII characters unescaped."""
    return json.dumps(_cut(value, JSON_DEPTH), ensure_ascii=False, default=repr)


def show_json_lines(value: Any) -> str:
    """Format JSON over several lines; otherwise like `show_json`."""
    return json.dumps(_cut(value, JSON_DEPTH), ensure_ascii=False, indent=2, default=repr)


def _cut(value: Any, depth: int) -> Any:
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return "…"
    if isinstance(value, dict):
        return {str(name): _cut(item, depth - 1) for name, item in cast(dict[Any, Any], value).items()}
    return [_cut(item, depth - 1) for item in cast(list[Any], value)]
