"""Encoding of one journal line: JSON for `jq` and `grep`, with the schema version first and a checksum last.

    {"v":1,"t":"asked","at":…,…,"crc":"89abcdef"}

The checksum is the crc32 of the line without its `crc` member, so that a flipped byte is noticed.
"""

from typing import Any, cast
from zlib import crc32

import msgspec

from console.core.record import SCHEMA, AnyRecord

_HEAD = b'{"v":%d,' % SCHEMA
_TAIL = b',"crc":"%08x"}\n'
_TAIL_LENGTH = len(_TAIL % 0)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(AnyRecord).decode


class _Version(msgspec.Struct):
    v: int = 0


class BadLine(ValueError):
    """A line that is not a complete, intact record of this version; the message says why."""

    is_newer = False
    """True for an intact line written by a newer version."""


def encode(record: AnyRecord) -> bytes:
    """Return the record as one line, newline included. Lone surrogates become U+FFFD, so lines are always UTF-8."""
    body = as_json(record)
    body = _HEAD + body[1:-1]
    return body + _TAIL % crc32(body)


def as_json(value: Any) -> bytes:
    """Return a value as JSON; lone surrogates become U+FFFD."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return _encode(scrub(msgspec.to_builtins(value)))


def decode(line: bytes) -> AnyRecord:
    """Decode one line without its newline.

    Raises:
        BadLine: damaged, not a record, or written by a newer version.
    """
    if len(line) < _TAIL_LENGTH or not line.endswith(b'"}') or line[1 - _TAIL_LENGTH : -10] != b',"crc":"':
        raise BadLine("not a journal line")
    body, crc = line[: 1 - _TAIL_LENGTH], line[-10:-2]
    if b"%08x" % crc32(body) != crc:
        raise BadLine("the checksum does not match: the line was changed or damaged")
    try:
        return _decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _decode_error(line, error) from None


def _decode_error(line: bytes, error: Exception) -> BadLine:
    try:
        version = msgspec.json.decode(line, type=_Version).v
    except (msgspec.DecodeError, RecursionError):
        return BadLine(f"not readable: {error}")
    if version <= SCHEMA:
        return BadLine(f"not a known record: {error}")
    newer = BadLine(f"written by a newer version (schema {version}, this one reads up to {SCHEMA})")
    newer.is_newer = True
    return newer


def scrub(value: Any) -> Any:
    """Replace lone surrogates in all strings of a JSON value."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else value
    if isinstance(value, dict):
        items = cast(dict[Any, Any], value).items()
        return {scrub(key): scrub(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [scrub(item) for item in cast(list[Any], value)]
    return value
