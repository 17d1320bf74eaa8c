"""Reads an HTTP answer: a stream of events or a whole body, told apart by the first byte, since servers mislabel both.

Faults quote the server, redacted before any cut.
"""

import asyncio
from itertools import takewhile
from typing import Any

import aiohttp

from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.core.json_text import TooDeepError, read_json
from console.llm.reply import ReplyBuilder
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.events import Event, EventReader
from console.llm.transport.faults import fault_of, looks_like_html, read_provider_error
from console.llm.transport.http import LARGEST_BODY, too_large


def decode(raw: bytes, redact: Redactor) -> Any:
    """Return decoded JSON; `ReplyBuilder` and `Redactor.value` redact it later.

    Raises:
        Fault: `bad_answer`, with the beginning of the body.
    """
    try:
        return read_json(raw)
    except UnicodeDecodeError:
        reason = "the answer is not UTF-8"
    except TooDeepError:
        reason = "the answer is JSON nested too deeply"
    except ValueError:
        reason = "the answer is a web page (a login page?)" if looks_like_html(raw) else "the answer is not JSON"
    head = excerpt(raw, redact)[:120]
    raise Fault(FaultKind.BAD_ANSWER, f"{reason}: {' '.join(head.split())}" if head.strip() else "the answer is empty")


_DRAIN_S = 0.25
_BLANK = b"\xef\xbb\xbf \r\n\t"
"""Bytes that may precede an answer: a byte order mark and whitespace."""
_EXCERPT = 4096
"""Maximum number of characters kept of an unreadable answer."""


def excerpt(raw: bytes, redact: Redactor) -> str:
    """Return the redacted beginning of an unreadable answer, for diagnosis."""
    return redact(raw[: 2 * _EXCERPT].decode("utf-8", "replace"))[:_EXCERPT]


async def receive(
    response: aiohttp.ClientResponse, reader: EventReader, builder: ReplyBuilder, deadlines: Deadlines
) -> None:
    """Read the answer into `builder`, using `reader` for streams, and report content to the deadlines.

    Raises:
        Fault: `truncated`, `bad_answer`, or an error that the server reports in mid-stream.
    """
    head = await _read_head(response, deadlines)
    if head.lstrip(_BLANK)[0] in reader.body_begins:
        deadlines.content()
        await _receive_whole(response, head, builder, deadlines)
    else:
        await _receive_events(response, head, reader, builder, deadlines)


async def _read_head(response: aiohttp.ClientResponse, deadlines: Deadlines) -> bytes:
    """Read up to the first piece that is more than whitespace, and return the beginning of the answer."""
    parts: list[bytes] = []
    size = 0
    while piece := await response.content.readany():
        deadlines.check()
        parts.append(piece)
        size += len(piece)
        if piece.lstrip(_BLANK):
            return b"".join(parts)
        if size > LARGEST_BODY:
            raise too_large()
    raise Fault(FaultKind.BAD_ANSWER, "the answer is empty")


async def _receive_whole(
    response: aiohttp.ClientResponse, head: bytes, builder: ReplyBuilder, deadlines: Deadlines
) -> None:
    parts, size = [head], len(head)
    while piece := await response.content.readany():
        deadlines.check()
        deadlines.content()
        parts.append(piece)
        size += len(piece)
        if size > LARGEST_BODY:
            raise too_large()
    raw = b"".join(parts).removeprefix(b"\xef\xbb\xbf")
    try:
        builder.add_chunk(decode(raw, builder.redact))
        builder.check_complete()
    except Fault as fault:
        fault.partial = fault.partial or excerpt(raw, builder.redact)
        raise


async def _receive_events(
    response: aiohttp.ClientResponse, head: bytes, reader: EventReader, builder: ReplyBuilder, deadlines: Deadlines
) -> None:
    size, piece, done, has_events = 0, head, False, False
    while piece and not done:
        deadlines.check()
        size += len(piece)
        if size > LARGEST_BODY:
            raise too_large()
        events = reader.feed(piece)
        has_events = has_events or bool(events)
        done = _add_events(events, builder, deadlines)
        piece = b"" if done else await _next_piece(response, builder)
    if done:
        await _drain(response)
    else:
        last = reader.end()
        if last is None and not has_events and not head.lstrip(_BLANK).startswith((b":", b"event:", b"id:", b"retry:")):
            decode(head, builder.redact)  # neither events nor JSON
        _add_last_event(last, builder)
        builder.mark_end_of_body()
    builder.check_complete()


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read the rest of the body, so that the connection can be reused, unless that takes long."""
    if response.content.at_eof():
        return
    try:
        async with asyncio.timeout(_DRAIN_S):
            while await response.content.readany():
                pass
    except (TimeoutError, aiohttp.ClientError, OSError):
        return  # the answer is complete; only the connection is lost


def _add_events(events: list[Event], builder: ReplyBuilder, deadlines: Deadlines) -> bool:
    """Add events up to the end mark and ignore the rest; return True if the mark was found."""
    is_new = done = False
    at = 0
    while at < len(events):
        deadlines.check()
        if done := events[at].data == b"[DONE]":
            builder.mark_end()
            break
        rest = takewhile(lambda event: event.name != b"error", (events[place] for place in range(at, len(events))))
        if texts := builder.add_texts(event.data for event in rest):
            at, is_new = at + texts, True
        else:
            is_new = _add_event(events[at], builder) or is_new
            at += 1
    if is_new:
        deadlines.content(final=builder.is_complete and not done)
    return done


async def _next_piece(response: aiohttp.ClientResponse, builder: ReplyBuilder) -> bytes:
    """Return more bytes; a connection that breaks after a complete answer counts as its end."""
    try:
        return await response.content.readany()
    except (aiohttp.ClientError, OSError):
        if not builder.is_complete:
            raise
        return b""


def _add_event(event: Event, builder: ReplyBuilder) -> bool:
    if event.name == b"error" and not looks_like_html(event.data):
        raise fault_of(read_provider_error(event.data, builder.redact))
    return builder.add_chunk(decode(event.data, builder.redact))


def _add_last_event(event: Event | None, builder: ReplyBuilder) -> None:
    """Add an event without its final blank line; a partial event is ignored, a partial error is not."""
    if event is None:
        return
    if event.data == b"[DONE]":
        builder.mark_end()
        return
    if event.name != b"error":
        try:
            read_json(event.data)
        except ValueError:
            return
    _add_event(event, builder)
