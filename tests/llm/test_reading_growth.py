"""Floods that a server may send: reading them takes time by their length, and the total deadline holds by the clock."""

import asyncio
import contextlib
import gc
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.quick_rows import first_quick

from console.config.model import Limits
from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.llm.reply import ReplyBuilder
from console.llm.transport import deadlines as deadlines_module
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.events import SseReader
from console.llm.transport.response_reader import receive
from console.llm.wires.anthropic import ANTHROPIC_API
from console.llm.wires.chat import CHAT_API
from console.llm.wires.gemini import GEMINI_API
from console.llm.wires.ollama import OLLAMA_API
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.responses import RESPONSES_API

Chunk = dict[str, Any]
LEAST_S = 0.02
"""A flood is made longer until reading it takes this long, so that a clock can measure it."""


def _chat(**delta: Any) -> Chunk:
    return {"choices": [{"index": 0, "delta": delta}]}


def _call(**function: Any) -> Chunk:
    return _chat(tool_calls=[{"index": 0, "function": function}])


def _new_calls(number: int) -> Chunk:
    return _chat(tool_calls=[{"id": f"call_{number}", "function": {"name": "f", "arguments": "{}"}}])


def _block(index: int, **delta: Any) -> list[Chunk]:
    """A block that begins and goes on."""
    kind = {"type": "tool_use", "name": "f"} if "partial_json" in delta else {"type": "text", "text": ""}
    start = {"type": "content_block_start", "index": index, "content_block": kind}
    return [start, {"type": "content_block_delta", "index": index, "delta": delta}]


STOP: Chunk = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
FLOODS: dict[str, tuple[ProviderApi, Callable[[int], list[Chunk]]]] = {
    "calls without index, each with an id": (CHAT_API, lambda n: [_new_calls(n)]),
    "pieces of a call's name": (CHAT_API, lambda n: [_call(name="abcdefghijklmnop"[n % 16] * 64)]),
    "pieces of arguments": (CHAT_API, lambda n: [_call(arguments="x" * 64)]),
    "calls by index": (CHAT_API, lambda n: [_chat(tool_calls=[{"index": n, "function": {"name": "f"}}])]),
    "calls of one index": (
        CHAT_API,
        lambda n: [_chat(tool_calls=[{"index": 0, "id": f"{n}", "function": {"name": "f"}}])],
    ),
    "text": (CHAT_API, lambda n: [_chat(content="word " * 8)]),
    "text and a reason in each chunk": (
        CHAT_API,
        lambda n: [{"choices": [{"index": 0, "delta": {"content": "word " * 8}, "finish_reason": "stop"}]}],
    ),
    "stops of a message": (
        ANTHROPIC_API,
        lambda n: [{"type": "message_stop"}] if n else [*_block(0, type="text_delta", text="word " * 80_000), STOP],
    ),
    "new counts": (ANTHROPIC_API, lambda n: [{"type": "message_delta", "delta": {}, "usage": {f"tokens_{n}": n}}]),
    "blocks": (ANTHROPIC_API, lambda n: _block(n, type="input_json_delta", partial_json="1")),
    "parts and a reason in each chunk": (
        GEMINI_API,
        lambda n: [{"candidates": [{"content": {"parts": [{"text": "word " * 8}]}, "finishReason": "STOP"}]}],
    ),
    "parts that are not joined": (
        GEMINI_API,
        lambda n: [{"candidates": [{"content": {"parts": [{"text": "a"}, {"functionCall": {"name": "f"}}]}}]}],
    ),
    "new fields": (GEMINI_API, lambda n: [{"usageMetadata": {}, f"field_{n}": n}]),
    "texts that a response calls complete": (
        RESPONSES_API,
        lambda n: [{"type": "response.output_text.done", "text": "word " * 8}],
    ),
    "calls": (OLLAMA_API, lambda n: [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": {}}}]}}]),
}


def _read(api: ProviderApi, chunks: list[Chunk]) -> None:
    builder = ReplyBuilder(api.assembly(), lambda kind, text: None, Redactor(["sk-canary-0123456789"]))
    for chunk in chunks:
        builder.add_chunk(chunk)
        assert builder.is_complete in (True, False)
    with contextlib.suppress(Fault):
        builder.reply(0.1, None)


@pytest.fixture
def no_collections() -> Iterator[None]:
    """Measure without garbage collection, whose passes grow with everything that other tests have left."""
    gc.disable()
    yield
    gc.enable()


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _grows_with_length(work_of: Callable[[int], Callable[[], object]]) -> bool:
    """Whether four times the length takes less than ten times as long; the quadratic takes sixteen times."""
    size = 500
    while (took := _seconds(work_of(size))) < LEAST_S and size < 1 << 18:
        size = max(2 * size, int(size * LEAST_S / max(took, 1e-3)))
    short, long = work_of(size), work_of(4 * size)
    # Whatever disturbs a measurement makes it longer, so the shortest of several is the nearest to the truth.
    best_short = best_long = float("inf")
    for _ in range(8):
        best_short, best_long = min(best_short, _seconds(short)), min(best_long, _seconds(long))
        if best_long < 10 * best_short:
            return True
    return False


@pytest.mark.usefixtures("no_collections")
@pytest.mark.parametrize("name", first_quick(FLOODS, 8))
def test_reading_a_flood_takes_time_by_its_length(name: str) -> None:
    api, part = FLOODS[name]

    def work_of(size: int) -> Callable[[], object]:
        chunks = [chunk for number in range(size) for chunk in part(number)]
        return lambda: _read(api, chunks)

    assert _grows_with_length(work_of)


@pytest.mark.usefixtures("no_collections")
@pytest.mark.parametrize("line", [b"data: 1\n", b": comment\n", b"x\r", b"event: e\n"])
def test_an_event_of_many_lines_takes_time_by_its_length(line: bytes) -> None:
    def work_of(size: int) -> Callable[[], object]:
        def work() -> None:
            reader = SseReader()
            for _ in range(size // 16):
                assert reader.feed(line * 16) == []
            reader.end()

        return work

    assert _grows_with_length(work_of)


LIMITS = Limits(timeout_s=0.5, first_token_s=0.1, idle_s=0.1)


async def _keep_busy(busy_s: float, pause_s: float = 0.0) -> None:
    """Keep the loop from turning for a while, again and again, so that each timer comes late."""
    while True:
        await asyncio.sleep(pause_s)
        until = time.monotonic() + busy_s
        while time.monotonic() < until:
            pass


async def _wait_for_nothing(limits: Limits, *, streamed: bool, content: bool = False) -> None:
    """Wait for content that never comes, while the loop is busy."""
    busy = asyncio.create_task(_keep_busy(0.06))
    try:
        async with asyncio.timeout(30), Deadlines(limits, streamed=streamed) as deadlines:
            if content:
                deadlines.content()
            await asyncio.Event().wait()
    finally:
        busy.cancel()


async def test_the_total_holds_by_the_clock_however_late_its_timer_comes() -> None:
    began = time.monotonic()
    with pytest.raises(Fault) as caught:
        await _wait_for_nothing(LIMITS, streamed=False)
    assert caught.value.kind is FaultKind.DEADLINE
    assert time.monotonic() - began >= 0.5


@pytest.mark.parametrize("content", [False, True])
async def test_late_timers_put_a_wait_off_only_so_long(content: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines_module, "_LONGEST_PUT_OFF_S", 0.2)
    limits = Limits(timeout_s=600, first_token_s=0.1, idle_s=0.1)
    with pytest.raises(Fault) as caught:
        await _wait_for_nothing(limits, streamed=True, content=content)
    assert caught.value.kind is (FaultKind.STALLED if content else FaultKind.SILENT)


async def _read_without_turning() -> None:
    async with Deadlines(LIMITS, streamed=True) as deadlines:
        deadlines.check()
        until = time.monotonic() + 0.55
        while time.monotonic() < until:  # the loop does not turn, so no timer can fire
            deadlines.content()
        deadlines.check()
        pytest.fail("the time was up")


async def test_the_total_is_checked_where_bytes_are_read_without_the_timer() -> None:
    with pytest.raises(Fault) as caught:
        await _read_without_turning()
    assert caught.value.kind is FaultKind.DEADLINE


class _Flood:
    """The body of a response that never ends and never lets the loop turn."""

    def __init__(self, piece: bytes) -> None:
        self.content = self
        self._piece = piece

    async def readany(self) -> bytes:
        return self._piece

    def at_eof(self) -> bool:
        return False


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(b"data: " + json.dumps(_chat(content="a")).encode() + b"\n\n", id="chunks"),
        pytest.param(b": ping\n\n", id="pings"),
        pytest.param(b"\n", id="blanks"),
    ],
)
async def test_a_flood_without_an_end_meets_the_total_even_if_the_loop_never_turns(piece: bytes) -> None:
    builder = ReplyBuilder(CHAT_API.assembly(), lambda kind, text: None, Redactor())
    response: Any = _Flood(piece)

    async def read() -> None:
        async with Deadlines(LIMITS, streamed=True) as deadlines:
            await receive(response, CHAT_API.events(), builder, deadlines)

    with pytest.raises(Fault) as caught:
        await read()
    assert caught.value.kind is FaultKind.DEADLINE
