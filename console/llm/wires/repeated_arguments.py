"""Arguments of a call that a gateway sent more than once, as opposed to what the model wrote.

Gateways that translate between APIs repeat the arguments in the last chunk, send each chunk as the whole so far, begin
with `{}`, or put two calls under one id. A whole repetition can be read; anything else is a fault of the gateway and
must not count as the model's mistake.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from console.core.json_text import canonical_json, read_json
from console.llm.wires.parts import unread

_ANOTHER = re.compile(r"\}\s*\{")
_FIRST_KEY = re.compile(r'\s*\{\s*"((?:[^"\\]|\\.)*)"')
_VISIBLE = re.compile(r"\S")
_MOST_SPACES = 100
_decode = json.JSONDecoder().raw_decode


def read_once(arguments: str, *, is_cut: bool = False) -> str:
    """Return arguments without repetitions; those with a mistake of the model are returned as they are.

    Args:
        arguments: the arguments of one call, as joined from its chunks.
        is_cut: True if the reply was cut off, so that its last arguments may be incomplete.

    Raises:
        Fault: `bad_answer`, if other arguments follow the first.
    """
    if not _ANOTHER.search(arguments) or _is_json(arguments):
        return arguments
    values = _values(arguments)
    first, end = next(values)
    if not isinstance(first, dict) or arguments[end : end + _MOST_SPACES].lstrip()[:1] != "{":
        return arguments
    first = canonical_json(first)
    for value, _ in values:
        if value is None and is_cut:
            return arguments
        if canonical_json(value) != first:
            raise unread("a call has two different arguments: they were sent twice, or two calls have one id")
    return arguments[:end]


def check_pieces(pieces: Sequence[str]) -> None:
    """Check that the chunks of a call's arguments continue each other instead of starting again.

    Raises:
        Fault: `bad_answer`.
    """
    whole = "".join(pieces)
    key, length, starts_again = _FIRST_KEY.match(whole), 0, False
    for piece in pieces:
        if length and "{" in piece:
            again = _FIRST_KEY.match(piece)
            is_whole_so_far = 1 < length < len(piece) and piece.startswith(whole[:length])
            is_same_key = key is not None and again is not None and key[1] == again[1]
            starts_again = starts_again or is_whole_so_far or is_same_key
        length += len(piece)
    if starts_again and not _is_json(whole):
        raise unread("the arguments of a call start again in the middle")


def _values(text: str) -> Iterator[tuple[Any, int]]:
    """Yield each JSON value of a text that contains several, with its end; None for a rest that is not JSON."""
    at = 0
    while (begins := _VISIBLE.search(text, at)) is not None:
        try:
            value, at = _decode(text, begins.start())
        except (ValueError, RecursionError):
            value, at = None, len(text)
        yield value, at


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True
