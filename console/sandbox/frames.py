"""Framing between engine and worker, engine side: four bytes of length, then JSON.

Frames from a worker may come from hostile code: each is bounded, parsed as data and never trusted.
"""

import asyncio
import json
import math
import re
from typing import Any, NoReturn, cast

DEEPEST = 100
"""Maximum nesting of a message; programs send fewer than fifty levels."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BadFrame(Exception):
    """Received data is not a valid frame."""


def pack(frame: dict[str, Any]) -> bytes:
    """Encode a frame."""
    data = json.dumps(frame, ensure_ascii=True, allow_nan=False).encode("ascii")
    return len(data).to_bytes(4, "big") + data


async def read_frame(reader: asyncio.StreamReader, limit: int) -> tuple[dict[str, Any], int]:
    """Read the next frame; return it with its size in bytes.

    Raises:
        asyncio.IncompleteReadError: the worker closed the connection.
        BadFrame: too long, nested too deeply, or not a JSON object of finite numbers.
    """
    size = int.from_bytes(await reader.readexactly(4), "big")
    if size > limit:
        raise BadFrame(f"a message of {size} bytes")
    return _read_body(await reader.readexactly(size)), size


def _read_body(body: bytes) -> dict[str, Any]:
    """Decode a message, accepting only what every later reader and writer of JSON accepts.

    Lone surrogates become question marks: honest error texts may contain some, but files cannot.
    """
    try:
        text = body.decode()
        frame = json.loads(text, parse_constant=_refuse_constant)
        if _SURROGATE.search(text):
            frame = json.loads(json.dumps(frame, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise BadFrame("a message that is not JSON") from None
    if not isinstance(frame, dict):
        raise BadFrame("a message that is not an object")
    checked = cast("dict[str, Any]", frame)
    _check_values(checked)
    return checked


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _check_values(frame: dict[str, Any]) -> None:
    level: list[dict[str, Any] | list[Any]] = [frame]
    for _ in range(DEEPEST):
        values: list[Any] = []
        for item in level:
            values += item.values() if isinstance(item, dict) else item
        if any(type(value) is float and not math.isfinite(value) for value in values):
            raise BadFrame("a number that is not finite")
        level = [value for value in values if isinstance(value, (dict, list))]
        if not level:
            return
    raise BadFrame(f"a message of more than {DEEPEST} levels")
