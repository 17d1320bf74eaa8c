"""Clients of the gateway that are slow, impatient or speak HTTP in odd ways: each costs nobody but itself."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest

from console.core.chat import Reply
from console.llm.gateway.dialect import GatewayCall
from console.llm.gateway.server import Answers, Gateway

BODY = b'{"messages": [{"role": "user", "content": "%s"}]}'


class Wire:
    """A gateway whose model repeats what it is asked, and raw connections to it."""

    async def open(self) -> None:
        self.gateway, self.asked = Gateway(), list[str]()
        self.writers = list[asyncio.StreamWriter]()
        """Kept, as a connection whose writer is forgotten is closed."""
        await self.gateway.open()
        self.token = self.gateway.admit(Answers(self._answer, self._embed, ("model",)))

    async def _answer(self, role: str, call: GatewayCall) -> Reply:
        self.asked.append(str(call.messages[0]["content"]))
        return Reply(self.asked[-1])

    async def _embed(self, role: str, texts: list[str]) -> list[list[float]]:
        raise AssertionError(f"{role} is asked to embed {texts}")

    def request(self, text: str, *headers: str, body: bytes | None = None) -> bytes:
        body = BODY % text.encode() if body is None else body
        length = [] if any(it.startswith("Transfer-Encoding") for it in headers) else [f"Content-Length: {len(body)}"]
        head = [f"POST /c/{self.token}/v1/chat/completions HTTP/1.1", "Host: x", *length, *headers]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + body

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(self.gateway.url.rpartition(":")[2]))
        self.writers.append(writer)
        return reader, writer

    async def send(self, *pieces: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.connect()
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        return reader, writer


async def read(reader: asyncio.StreamReader) -> tuple[int, str]:
    """Return status and text of one response, whose head is skipped if it only says to continue."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if " 100 " in head.splitlines()[0]:
        return await read(reader)
    length = int(head.partition("content-length:")[2].split()[0])
    return int(head.split()[1]), (await reader.readexactly(length)).decode()


def said(answer: tuple[int, str]) -> str:
    assert answer[0] == 200, answer
    return json.loads(answer[1])["choices"][0]["message"]["content"]


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    wire = Wire()
    await wire.open()
    yield wire
    async with asyncio.timeout(60):
        await wire.gateway.aclose()
    for writer in wire.writers:
        writer.close()


async def test_a_request_that_comes_byte_by_byte_delays_no_other(wire: Wire) -> None:
    request = wire.request("slow")
    reader, writer = await wire.send(*(bytes([byte]) for byte in request[:-1]))
    assert said(await read((await wire.send(wire.request("quick")))[0])) == "quick"
    writer.write(request[-1:])
    assert said(await read(reader)) == "slow"


async def test_requests_sent_in_one_go_are_answered_in_their_order(wire: Wire) -> None:
    texts = [f"number {number}" for number in range(20)]
    reader, _ = await wire.send(b"".join(map(wire.request, texts)))
    assert [said(await read(reader)) for _ in texts] == texts == wire.asked


async def test_chunks_of_one_byte_and_a_body_that_waits_to_be_asked_for_are_read(wire: Wire) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY % b"chunks") + b"0\r\n\r\n"
    reader, _ = await wire.send(wire.request("", "Transfer-Encoding: chunked", body=chunks))
    assert said(await read(reader)) == "chunks"
    reader, _ = await wire.send(wire.request("waits", "Expect: 100-continue"))
    assert said(await read(reader)) == "waits"


@pytest.mark.parametrize(
    ("header", "body"),
    [("Transfer-Encoding: chunked", b"zz\r\n"), ("Transfer-Encoding: chunked", b"-1\r\n"),
     ("Content-Length: 3\r\nContent-Length: 4", b"{}"), ("Expect: something", b"{}"), ("X: " + "a" * 20_000, b"{}"),
     ("Transfer-Encoding: gzip", b"{}"), ("Content-Encoding: gzip", b"not gzip"), ("Content-Encoding: br", b"{}"),
     ("Content-Length: 9\r\nTransfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n")],
)  # fmt: skip
async def test_what_is_not_http_is_refused_and_asks_no_model(
    wire: Wire, caplog: pytest.LogCaptureFixture, header: str, body: bytes
) -> None:
    reader, _ = await wire.send(wire.request("", header, body=body))
    assert (await read(reader))[0] in (400, 417)
    await wire.send(wire.request("", header, body=body[:1]))
    assert not wire.asked
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_clients_that_leave_are_not_reported_and_cost_nobody_else(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    whole = wire.request("gone")
    for end in (10, 60, len(whole) - 1, len(whole)):
        for is_half in (True, False):
            reader, writer = await wire.send(whole[:end])
            if is_half:
                writer.write_eof()
                assert await reader.read() == b""
            writer.close()
    await wire.send(whole.replace(b"Content-Length: ", b"Content-Length: 1000000000"))
    for _ in range(100):
        await wire.connect()
    assert said(await read((await wire.send(wire.request("stays")))[0])) == "stays"
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
