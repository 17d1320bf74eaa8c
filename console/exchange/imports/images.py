"""Placeholders for media in messages, such as `[image 640×480 png]` from the first bytes of an inline image."""

import base64
import binascii
import re
import struct
from typing import Any

_DATA = re.compile(r"data:(?P<kind>[\w.+-]+)/(?P<form>[\w.+-]+)?[^,]{0,80},", re.ASCII)
_LOOKED_AT = 1 << 16
"""Characters of an inline image searched for its size."""


def media_name(kind: str, value: Any) -> str:
    """Return the placeholder of an image, a sound or a file; `value` is a data URL, a URL or a path."""
    source = value if isinstance(value, str) else ""
    match = _DATA.match(source)
    if match is None:
        return f"[{kind} {source[:200]}]" if source else f"[{kind}]"
    form = match["form"] or ""
    size = image_size(_bytes(source[match.end() : match.end() + _LOOKED_AT])) if kind == "image" else None
    return " ".join(filter(None, (f"[{kind}", f"{size[0]}×{size[1]}" if size else "", form))) + "]"


def _bytes(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded[: len(encoded) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height from the first bytes of a PNG, GIF, JPEG or WebP image, or None if they are not there."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack(">II", data[16:24])
        if data.startswith((b"GIF87a", b"GIF89a")):
            return struct.unpack("<HH", data[6:10])
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp_size(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg_size(data)
    except (struct.error, IndexError):
        pass
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
