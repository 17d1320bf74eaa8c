"""Encoding of one journal line: JSON for `jq` and `grep`, with the schema version first and a checksum last.

    {"v":1,"t":"asked","at":…,…,"crc":"89abcdef"}

The checksum is the crc32 of the line without its `crc` member, so that a flipped byte is noticed.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast
from zlib import crc32

import msgspec

from console.core.case import Key
from console.core.fault import FaultKind
from console.core.outcome import Outcome, Verdict
from console.core.ready_type import ready_type
from console.core.record import SCHEMA, AnyRecord, Finished

RecordT = TypeVar("RecordT")
_FINISHED = str(Finished.__struct_config__.tag)
_HEAD = b'{"v":%d,' % SCHEMA
SESSION_HEAD = _HEAD + b'"t":"opened",'
"""Start of the first line of each session of a run."""
_TAIL = b',"crc":"%08x"}\n'
_TAIL_LENGTH = len(_TAIL % 0)
_encode = msgspec.json.Encoder().encode
_LONE = re.compile("[\ud800-\udfff]")
_decode = msgspec.json.Decoder(ready_type(AnyRecord)).decode


class Skimmed(msgspec.Struct):
    """Fields of a record that `skim` reads."""

    t: str = ""
    key: Key | None = None


_skim = msgspec.json.Decoder(ready_type(Skimmed)).decode


class _Version(msgspec.Struct):
    v: int = 0


class BadLine(ValueError):
    """A line that is not a complete, intact record of this version; the message has the reason."""

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


def check_round_trip(value: Any, kind: Any) -> bytes:
    """Return a value as JSON that decodes to the same value, except for tuples (lists) and lone surrogates (U+FFFD).

    Args:
        value: a record, or a JSON value.
        kind: type to decode it as.

    Raises:
        ValueError: it would decode to another value; the message names the first difference.
    """
    try:
        data = as_json(value)
        back = msgspec.json.decode(data, type=ready_type(kind))
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if back != value and (lost := next(_lost(value, back, ""), "")):
        raise ValueError(lost)
    return data


def encode_foreign(record: AnyRecord) -> bytes:
    """Return an imported record as one line; a `Finished` that would not survive the journal becomes broken."""
    if isinstance(record, Finished):
        try:
            check_round_trip(record, Finished)
        except ValueError as error:
            broken = Verdict(Outcome.BROKEN, FaultKind.DATA.value, messages=(f"no journal can hold it: {error}",))
            record = msgspec.structs.replace(record, verdict=broken, output=None)
    return encode(record)


def decode(line: bytes) -> AnyRecord:
    """Decode one line without its newline; a carriage return, which some tools add to copies, is ignored.

    Raises:
        BadLine: damaged, not a record, or written by a newer version.
    """
    return _decoded(line.removesuffix(b"\r"), _decode)


def skim(line: bytes) -> AnyRecord | Skimmed:
    """Decode one line as `decode` does if it ends a conversation, else only its type and key, at a third of the cost.

    Raises:
        BadLine: damaged.
    """
    line = line.removesuffix(b"\r")
    skimmed = _decoded(line, _skim)
    return decode(line) if skimmed.t == _FINISHED else skimmed


def _decoded(line: bytes, decoder: Callable[[bytes], RecordT]) -> RecordT:
    if len(line) < _TAIL_LENGTH or not line.endswith(b'"}') or line[1 - _TAIL_LENGTH : -10] != b',"crc":"':
        raise BadLine("not a journal line")
    body, crc = line[: 1 - _TAIL_LENGTH], line[-10:-2]
    if b"%08x" % crc32(body) != crc:
        raise BadLine("the checksum does not match: the line was changed or damaged")
    try:
        return decoder(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _decode_error(line, error) from None


def _decode_error(line: bytes, error: Exception) -> BadLine:
    try:
        version = msgspec.json.decode(line, type=ready_type(_Version)).v
    except (msgspec.DecodeError, RecursionError):
        return BadLine(f"not readable: {error}")
    if version <= SCHEMA:
        return BadLine(f"not a known record: {error}")
    newer = BadLine(f"written by a newer version (schema {version}, this one reads up to {SCHEMA})")
    newer.is_newer = True
    return newer


def _lost(given: Any, back: Any, place: str) -> Iterator[str]:
    """Yield a sentence for each part that would not survive the journal."""
    if isinstance(given, msgspec.Struct) and type(given) is type(back):
        for name in given.__struct_fields__:
            yield from _lost(getattr(given, name), getattr(back, name), f"{place}.{name}".removeprefix("."))
    elif isinstance(given, dict) and isinstance(back, dict):
        yield from _lost_in_table(cast(dict[Any, Any], given), cast(dict[Any, Any], back), place)
    elif isinstance(given, list | tuple) and isinstance(back, list | tuple):
        items = zip(cast(list[Any], given), cast(list[Any], back), strict=True)
        for number, (value, other) in enumerate(items):
            yield from _lost(value, other, f"{place}[{number}]")
    elif given != back and not (isinstance(given, str) and scrub(given) == back):
        yield f"{place or 'it'} is {_shown(given)}, which would be read back as {_shown(back)}"


def _lost_in_table(given: dict[Any, Any], back: dict[Any, Any], place: str) -> Iterator[str]:
    for name, value in {scrub(name): value for name, value in given.items()}.items():
        if isinstance(name, str):
            yield from _lost(value, back[name], f"{place}.{name}")
        else:
            yield f"{place} has the key {name!r:.80}, which is not a string"


def _shown(value: Any) -> str:
    return f"{value!r:.80}" if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"


def scrub(value: Any) -> Any:
    """Replace lone surrogates in all strings of a JSON value."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        items = cast(dict[Any, Any], value).items()
        return {scrub(key): scrub(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [scrub(item) for item in cast(list[Any], value)]
    return value
