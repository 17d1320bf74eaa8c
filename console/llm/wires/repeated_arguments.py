"""Arguments of a call that a gateway sent more than once, as opposed to what the model wrote.

Gateways that translate between APIs repeat the arguments in the last chunk, send each chunk as the whole so far, begin
with `{}`, or put two calls under one id. A whole repetition can be read; anything else is a fault of the gateway and
must not count as the model's mistake.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from console.core.json_text import canonical_json, read_json
from console.core.symptoms import is_encoded_twice
from console.llm.wires.parts import unread

_ANOTHER = re.compile(r'[}"]\s*[{"]|\}\s*null|null\s*\{')
_FIRST_KEY = re.compile(r'\s*\{\s*"((?:[^"\\]|\\.)*)"')
_VISIBLE = re.compile(r"\S")
_WORD = re.compile(r"\w")
_LONG, _MOST_AGAIN = 4, 8
_REST: Final = object()
"""Stands for the rest of a text that is not JSON."""
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
    first, _, end = next(values)
    if not _may_be_whole(first):
        return arguments
    whole, is_repeated = canonical_json(first), False
    for value, begins, _ in values:
        if value is _REST and is_cut:
            return arguments
        if not is_repeated and begins != "{" and (value == "" or not _may_be_whole(value)):
            return arguments
        if value is _REST or canonical_json(value) != whole:
            raise unread("a call has two different arguments: they were sent twice, or two calls have one id")
        is_repeated = True
    return arguments[:end]


def check_pieces(pieces: Sequence[str]) -> None:
    """Check that the chunks of a call's arguments continue each other instead of starting again.

    Raises:
        Fault: `bad_answer`.
    """
    if len(pieces) < 2 or _is_json("".join(pieces)):
        return
    if _starts_again([piece for piece in pieces if piece.strip()]):
        raise unread("the arguments of a call start again in the middle")
    if _is_doubled(pieces):
        raise unread("a piece of a call's arguments was sent twice")


def check_split(calls: Sequence[str]) -> None:
    """Check that the arguments of several calls are not pieces of one.

    Raises:
        Fault: `bad_answer`.
    """
    if len(calls) > 1 and not any(map(_is_json, calls)) and _is_object("".join(calls)):
        raise unread("the arguments of one call came as several calls")


def _starts_again(pieces: Sequence[str]) -> bool:
    """Return whether a chunk contains the arguments so far, or begins them again, and completes them.

    Without a complete object, it may be the model's own mistake, unless every chunk contains the one before.
    """
    whole = "".join(pieces)
    key, length, has_begun_again = _FIRST_KEY.match(whole), 0, False
    for number, piece in enumerate(pieces):
        again = _FIRST_KEY.match(piece) if length and "{" in piece else None
        if again is not None:
            is_whole_so_far = length < len(piece) and piece.startswith(whole[:length])
            is_again = (key is not None and key[1] == again[1]) or (is_whole_so_far and length > 1)
            if (is_again or is_whole_so_far) and _is_object(piece):
                return True
            if is_again and not has_begun_again and _is_object("".join(pieces[number:])):
                return True
            has_begun_again = has_begun_again or is_again
        length += len(piece)
    is_growing = len(pieces) > 2 and "{" in pieces[0] and len(pieces[0]) < len(pieces[-1])
    return is_growing and all(piece.startswith(before) for before, piece in pairwise(pieces))


def _is_doubled(pieces: Sequence[str]) -> bool:
    """Return whether every chunk, or one that is longer than what a model repeats by mistake, was sent twice."""
    if pieces[::2] == pieces[1::2]:
        return _is_object("".join(pieces[::2]))
    again = [
        number
        for number, (before, piece) in enumerate(pairwise(pieces), 1)
        if piece == before and len(piece) >= _LONG and _WORD.search(piece)
    ]
    return any(_is_object("".join((*pieces[:number], *pieces[number + 1 :]))) for number in again[:_MOST_AGAIN])


def _values(text: str) -> Iterator[tuple[Any, str, int]]:
    """Yield each JSON value of a text that contains several, with its first character and its end."""
    at = 0
    while (begins := _VISIBLE.search(text, at)) is not None:
        try:
            value, at = _decode(text, begins.start())
        except (ValueError, RecursionError):
            value, at = _REST, len(text)
        yield value, begins[0], at


def _may_be_whole(value: Any) -> bool:
    """Return whether gateways send a value as the whole arguments: an object, perhaps encoded twice, or nothing."""
    if isinstance(value, str):
        return not value or is_encoded_twice(json.dumps(value))
    return value is None or isinstance(value, dict)


def _is_object(text: str) -> bool:
    try:
        return isinstance(read_json(text), dict)
    except ValueError:
        return False


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True
