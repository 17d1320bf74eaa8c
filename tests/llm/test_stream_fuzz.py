"""Streams that end anywhere, fail anywhere and are ended by any word: what is not proven whole is never an answer.

Seeded, so that a failure comes again. `make test` tries some thousand answers; EVAL_CONSOLE_STREAMS=20 (`make soak`)
tries many streams. All of it goes through real connections, many at once.
"""

import asyncio
import itertools
import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from server.faults import FAULTS
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted, chunks, last_text, whole

from console.config.model import Limits, ModelConfig, Secret
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.llm.endpoint import Watch
from console.llm.providers import open_endpoint

SEED = 20261122
FEW = 1
STREAMS = int(os.environ.get("EVAL_CONSOLE_STREAMS", FEW))
AT_ONCE = 24
FINISHES = ("stop", "length", "content_filter", "eos", "STOP")
DONE = b"data: [DONE]\n\n"


@dataclass
class Trial:
    """Bytes that a server sends, how it goes on, and from which byte on they hold a whole answer."""

    raw: bytes
    ending: str
    """`end` (of the body), `close` (in the middle of it) or `plain` (a body that is no stream)."""
    proven_from: int
    why: str
    certain_from: int = 1 << 60
    """Bytes with which it must count, and not only may: the blank line behind the reason is there, too."""


@dataclass
class Stream:
    """A right answer as a stream: its events, and the place of the one that says why the model stopped."""

    scripted: Scripted
    events: list[bytes]
    finish_at: int

    @property
    def raw(self) -> bytes:
        return b"".join(self.events)

    @property
    def proven_from(self) -> int:
        """How many bytes hold the whole event with the reason, without the blank line behind it."""
        return len(b"".join(self.events[: self.finish_at + 1]).rstrip(b"\r\n"))

    @property
    def certain_from(self) -> int:
        return len(b"".join(self.events[: self.finish_at + 1]))


def stream_of(chance: random.Random) -> Stream:
    """Return a right stream of random content in one of the forms that servers use."""
    words = ("sunny", "żółć", "漢字", "👩‍🚀", "a: b", "\n\n", "data: [DONE]", '"', "\\", "<b>", "{}")
    text = " ".join(chance.choices(words, k=chance.randint(1, 6)))
    calls = [("look_up", {"n": chance.randint(0, 9)})] * chance.randint(0, 2)
    scripted = Scripted(
        text if chance.random() < 0.8 or not calls else None,
        calls,
        reasoning=chance.choice(("", "let me see")),
        finish="tool_calls" if calls else chance.choice(FINISHES),
        chunk=chance.randint(2, 9),
        model="m",
    )
    options = {"include_usage": True} if chance.random() < 0.5 else {}
    bodies = chunks({"model": "m", "stream_options": options, "messages": []}, scripted)
    finish_at = next(n for n, body in enumerate(bodies) if body["choices"] and body["choices"][0]["finish_reason"])
    line_end = chance.choice((b"\n", b"\n", b"\r\n"))
    head = chance.choice((b"data: ", b"data:", b": ping" + line_end + b"data: "))
    plain = chance.random() < 0.5
    events = [head + json.dumps(body, ensure_ascii=plain).encode() + 2 * line_end for body in bodies]
    return Stream(scripted, [*events, DONE], finish_at)


def errors(chance: random.Random) -> dict[str, bytes]:
    """Every shape in which servers report in the middle of a stream that they failed."""
    words = chance.choice(("upstream died", "Internal Server Error", "out of memory"))
    values = {
        "error object": {"error": {"message": words, "code": 500}},
        "error text": {"error": words},
        "object error": {"object": "error", "message": words},
        "code and message": {"code": 500, "message": words},
        "code as text": {"code": "502", "message": words},
        "detail": {"detail": words},
        "status": {"status": 503, "title": words},
        "type": {"type": "error", "text": words},
        "list": [{"error": {"message": words}}],
        "in the choice": {"choices": [{"index": 0, "delta": {"content": ""}, "error": {"message": words}}]},
        "beside the choice": {"choices": [{"index": 0, "delta": {"content": "x"}}], "error": {"message": words}},
        "reason": {"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]},
    }
    shapes = {name: b"data: " + json.dumps(value).encode() + b"\n\n" for name, value in values.items()}
    return shapes | {
        "event": b"event: error\ndata: " + words.encode() + b"\n\n",
        "event with JSON": b'event: error\ndata: {"message": "' + words.encode() + b'"}\n\n',
        "page": b"<html><title>" + words.encode() + b"</title>\n\n<body></body></html>\n\n",
        "bare JSON": b'{"error": "' + words.encode() + b'"}\n\n',
        "no JSON": b"data: " + words.encode() + b"\n\n",
        "half JSON": b'data: {"choices": [{"delta": {"content": "\n\n',
    }


def trials_of(stream: Stream, chance: random.Random) -> list[Trial]:
    raw = stream.raw
    trials = [
        Trial(raw[:end], ending, stream.proven_from, f"cut at {end}, {ending}", stream.certain_from)
        for end in range(len(raw) + 1)
        for ending in ("end", "close")
        if ending == "end" or end % 9 == 0 or STREAMS > FEW
    ]
    never = 1 << 60
    for name, error in errors(chance).items():
        before = chance.randint(0, stream.finish_at)
        head = b"".join(stream.events[:before]) + error
        for rest, how in ((b"", "end"), (DONE, "end"), (b"", "close"), (b"".join(stream.events[before:]), "end")):
            trials.append(Trial(head + rest, how, never, f"{name} before event {before}, then {rest[:20]!r}, {how}"))
    finish = stream.events[stream.finish_at]
    key = b'"finish_reason": "' + stream.scripted.finish.encode() + b'"'
    words = [bytes(chance.choices(b"abcdefghijklmnop_ ", k=chance.randint(1, 20))) for _ in range(6)]
    for word in (b"abort", b"network_error", b"insufficient_system_resource", b"timeout", b"", b"null", *words):
        other = finish.replace(key, b'"finish_reason": "' + word + b'"')
        events = [*stream.events[: stream.finish_at], other, *stream.events[stream.finish_at + 1 :]]
        trials.append(Trial(b"".join(events), "end", never, f"ended by {word!r}"))
    without = [*stream.events[: stream.finish_at], *stream.events[stream.finish_at + 1 :]]
    trials.append(Trial(b"".join(without), "end", never, "no reason"))
    body = json.dumps(whole({"model": "m", "messages": []}, stream.scripted)).encode()
    ends = [*range(0, len(body), 5), len(body)]
    return trials + [Trial(body[:end], "plain", len(body), f"body cut at {end}", len(body)) for end in ends]


def play(trials: list[Trial]) -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        trial = trials[int(last_text(exchange.json).rpartition(" ")[2])]
        if trial.ending == "plain":
            exchange.answer(trial.raw)
            return
        exchange.begin_events()
        if trial.raw:
            exchange.piece(trial.raw)
        if trial.ending == "close":
            exchange.cut()
        else:
            exchange.finish()

    return answer


async def outcomes(server: OpenAIServer, count: int) -> list[Reply | Fault]:
    """Ask for every trial; few of them on one endpoint, whose limiter would else take the server for down."""
    found: dict[int, Reply | Fault] = {}
    waiting = iter(range(count))
    limits = Limits(max_tries=1, max_wait_s=0, timeout_s=20, first_token_s=20, idle_s=20)

    async def ask_some() -> None:
        while numbers := list(itertools.islice(waiting, 8)):
            key = Secret(f"key-of-trial-{numbers[0]:012d}")
            endpoint = open_endpoint(
                ModelConfig(name="m", model_id="m", base_url=server.base_url, api_key=key, limits=limits)
            )
            for number in numbers:
                try:
                    found[number] = await endpoint.ask(
                        ChatRequest([{"role": "user", "content": f"fault:fuzz {number}"}]), Watch()
                    )
                except Fault as fault:
                    found[number] = fault
            await endpoint.aclose()

    await asyncio.gather(*(ask_some() for _ in range(AT_ONCE)))
    return [found[number] for number in range(count)]


def told(reply: Reply) -> tuple[Any, ...]:
    calls = [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]
    return reply.content, calls, reply.reasoning


@pytest.mark.timeout(1200)
async def test_nothing_counts_that_is_not_proven_whole(monkeypatch, record_property) -> None:
    chance = random.Random(SEED)
    scored_in_vain: list[str] = []
    refused_in_vain: list[str] = []
    count = 0
    with OpenAIServer(keep=False) as server:
        for number in range(STREAMS):
            stream = stream_of(chance)
            trials = trials_of(stream, chance)
            monkeypatch.setitem(FAULTS, "fuzz", play(trials))
            right = (stream.scripted.content, stream.scripted.calls, stream.scripted.reasoning)
            for trial, outcome in zip(trials, await outcomes(server, len(trials)), strict=True):
                where = f"stream {number}, {trial.why}"
                count += 1
                if isinstance(outcome, Fault):
                    assert outcome.kind is not FaultKind.INTERNAL, f"{where}: {outcome.message}"
                    if len(trial.raw) >= trial.certain_from:
                        refused_in_vain.append(f"{where}: {outcome.message}")
                elif len(trial.raw) < trial.proven_from:
                    scored_in_vain.append(where)
                else:
                    assert told(outcome) == right, where
    record_property("trials", count)
    record_property("wrong", len(scored_in_vain) + len(refused_in_vain))
    assert scored_in_vain == []
    assert refused_in_vain == []
    assert count > 600 * STREAMS, "every byte was tried"
