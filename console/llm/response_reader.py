"""Reading an answer off the wire: events or a whole body, told apart by their first sign: servers mislabel both."""

import asyncio
import json
from typing import Any

import aiohttp

from console.core.fault import Fault, FaultKind
from console.llm.deadlines import Deadlines
from console.llm.faults import fault_of, looks_like_html, words_of
from console.llm.reply_builder import ReplyBuilder
from console.llm.sse import Event, EventReader
from console.llm.wire import LARGEST_BODY, too_large


def decode(raw: bytes) -> Any:
    """Return decoded JSON.

    Raises:
        Fault: `bad_answer`, with the beginning of what came instead.
    """
    try:
        return json.loads(raw)
    except UnicodeDecodeError:
        reason = "the answer is not UTF-8"
    except RecursionError:
        reason = "the answer is JSON nested too deeply"
    except ValueError:
        reason = "the answer is a web page (a login page?)" if looks_like_html(raw) else "the answer is not JSON"
    head = raw[:120].decode("utf-8", "replace")
    raise Fault(FaultKind.BAD_ANSWER, f"{reason}: {' '.join(head.split())}" if head.strip() else "the answer is empty")


_DRAIN_S = 0.25
_KEPT = 4096
"""Bytes of an unreadable answer that are kept for whoever looks into it."""


async def receive(response: aiohttp.ClientResponse, assembly: ReplyBuilder, clock: Deadlines) -> None:
    """Read the answer into `assembly`, and tell the clock of its content.

    Raises:
        Fault: `truncated`, `bad_answer`, or what the server reports in the middle of it.
    """
    head = b""
    while not head.strip(b"\xef\xbb\xbf \r\n\t"):
        piece = await response.content.readany()
        if not piece:
            raise Fault(FaultKind.BAD_ANSWER, "the answer is empty")
        head += piece
    if head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"{", b"[", b"<"):
        clock.content()
        await _receive_whole(response, head, assembly, clock)
    else:
        await _receive_events(response, head, assembly, clock)


async def _receive_whole(
    response: aiohttp.ClientResponse, head: bytes, assembly: ReplyBuilder, clock: Deadlines
) -> None:
    parts, size = [head], len(head)
    while piece := await response.content.readany():
        clock.content()
        parts.append(piece)
        size += len(piece)
        if size > LARGEST_BODY:
            raise too_large()
    raw = b"".join(parts).removeprefix(b"\xef\xbb\xbf")
    try:
        assembly.take(decode(raw))
        if assembly.is_empty and assembly.finish is None:
            raise Fault(FaultKind.BAD_ANSWER, "the answer holds no choice")
    except Fault as fault:
        fault.partial = fault.partial or raw[:_KEPT].decode("utf-8", "replace")
        raise


async def _receive_events(
    response: aiohttp.ClientResponse, head: bytes, assembly: ReplyBuilder, clock: Deadlines
) -> None:
    reader = EventReader()
    size, piece, done = 0, head, False
    while piece and not done:
        size += len(piece)
        if size > LARGEST_BODY:
            raise too_large()
        done = _take_all(reader.feed(piece), assembly, clock)
        piece = b"" if done else await _next_piece(response, assembly)
    if done:
        await _drain(response)
    else:
        _take_rest(reader.end(), assembly)
    _finish(assembly, done=done)


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read to the end of the body, so that the connection can carry the next request, unless that takes long."""
    if response.content.at_eof():
        return
    try:
        async with asyncio.timeout(_DRAIN_S):
            while await response.content.readany():
                pass
    except (TimeoutError, aiohttp.ClientError, OSError):
        return  # the answer is whole; only the connection is lost


def _take_all(events: list[Event], assembly: ReplyBuilder, clock: Deadlines) -> bool:
    """Take events up to the end mark; return whether it was there. What comes behind it is no part of the answer."""
    news = done = False
    for event in events:
        done = event.data == b"[DONE]"
        if done:
            break
        news = _take(event, assembly) or news
    if news:
        clock.content(final=assembly.finish is not None)
    return done


async def _next_piece(response: aiohttp.ClientResponse, assembly: ReplyBuilder) -> bytes:
    """Return more bytes; what breaks off after the model's last word breaks nothing."""
    try:
        return await response.content.readany()
    except (aiohttp.ClientError, OSError):
        if assembly.finish is None:
            raise
        return b""


def _take(event: Event, assembly: ReplyBuilder) -> bool:
    chunk = decode(event.data)
    if event.name == b"error":
        raise fault_of(words_of(chunk))
    return assembly.take(chunk)


def _take_rest(event: Event | None, assembly: ReplyBuilder) -> None:
    """Take an event that lacks its last blank line; half an event is no event."""
    if event is None or event.data == b"[DONE]":
        return
    try:
        chunk = json.loads(event.data)
    except (ValueError, RecursionError):
        return
    assembly.take(chunk)


def _finish(assembly: ReplyBuilder, *, done: bool) -> None:
    """Decide whether what has arrived is an answer.

    Raises:
        Fault: `truncated` without the model's or the server's last word, `bad_answer` with nothing before it.
    """
    if assembly.finish is not None:
        return
    if not done and not assembly.is_empty:
        raise Fault(FaultKind.TRUNCATED, "the stream ended before the answer did")
    if assembly.is_empty:
        raise Fault(FaultKind.BAD_ANSWER, "the stream holds no answer")
    assembly.flag("no finish reason")
