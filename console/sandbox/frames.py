"""Frames between engine and worker on the engine's side: four bytes of length, then JSON.

What comes from a worker may be written by hostile code: every frame is bounded, parsed as data and never trusted.
"""

import asyncio
import json
import math
import re
from typing import Any, NoReturn, cast

DEEPEST = 100
"""Levels of nesting in a message; programs send fewer than fifty."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BadFrame(Exception):
    """Something arrived that is no frame."""


def pack(frame: dict[str, Any]) -> bytes:
    """Return a frame as bytes."""
    data = json.dumps(frame, ensure_ascii=True, allow_nan=False).encode("ascii")
    return len(data).to_bytes(4, "big") + data


async def read_frame(reader: asyncio.StreamReader, limit: int) -> tuple[dict[str, Any], int]:
    """Read the next frame and its size in bytes.

    Raises:
        asyncio.IncompleteReadError: the worker closed the connection.
        BadFrame: too long, nested too deeply, or not a JSON object of finite numbers.
    """
    size = int.from_bytes(await reader.readexactly(4), "big")
    if size > limit:
        raise BadFrame(f"a message of {size} bytes")
    return _read_body(await reader.readexactly(size)), size


def _read_body(body: bytes) -> dict[str, Any]:
    """Return what a message holds: only what every later reader and writer of JSON can take.

    Half a character that JSON can carry and no file can becomes a question mark: texts of honest errors may hold some.
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
            raise BadFrame("a number that is none")
        level = [value for value in values if isinstance(value, (dict, list))]
        if not level:
            return
    raise BadFrame(f"a message of more than {DEEPEST} levels")
