"""Frames between engine and worker on the engine's side: four bytes of length, then JSON.

What comes from a worker may be written by hostile code: every frame is bounded, parsed as data and never trusted.
"""

import asyncio
import json
from typing import Any, cast


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
        BadFrame: too long, or not a JSON object.
    """
    size = int.from_bytes(await reader.readexactly(4), "big")
    if size > limit:
        raise BadFrame(f"a message of {size} bytes")
    body = await reader.readexactly(size)
    try:
        frame = json.loads(body)
    except (ValueError, RecursionError):
        raise BadFrame("a message that is not JSON") from None
    if not isinstance(frame, dict):
        raise BadFrame("a message that is not an object")
    return cast("dict[str, Any]", frame), size
