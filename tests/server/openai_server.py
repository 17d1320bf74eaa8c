"""A server with the OpenAI API on 127.0.0.1, for tests: answers right, wrong and faulty, as told.

    with OpenAIServer(answer=lambda request: Scripted("hello")) as server:
        ... base_url = server.base_url ...

`answer(request_json) -> Scripted` decides what is said. A fault is asked for by `Scripted(fault="r500")`, or by the
marker `fault:NAME` in the model's name or in the last message; `fault:NAMEx2` fails twice, then answers. Faults are
listed in `faults.py`. The server runs in its own thread; `python tests/server --port 0` runs it as a process.
"""

import asyncio
import base64
import json
import re
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from server.faults import FAULTS
from server.http1 import Connection, Exchange, frame
from server.vectors import vector

_MARKER = re.compile(r"fault:([a-z0-9_]+?)(?:x(\d+))?(?![a-z0-9_])")


@dataclass
class Scripted:
    """What the server says to one request."""

    content: str | None = None
    calls: list[tuple[str, Any]] = field(default_factory=list)
    """(name, arguments) with arguments as JSON values, or as the very text."""
    reasoning: str = ""
    finish: str = ""
    usage: Any = "count"
    """`count`, None for no usage at all, or the value to send."""
    fault: str = ""
    latency_s: float = 0.0
    """Seconds before anything is said, be it the fault."""
    itl_s: float = 0.0
    """Seconds between two events; 0 sends the stream in one piece."""
    chunk: int = 12
    """Characters in one event."""
    model: str = ""
    logprobs: list[tuple[str, float, dict[str, float]]] = field(default_factory=list)
    """Tokens with their log probabilities and alternatives; sent in pieces of one token."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Fields of the body, or of every chunk, such as `system_fingerprint`."""
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[dict[str, Any]], Scripted]


def say_ok(request: dict[str, Any]) -> Scripted:
    """Call the first tool with plausible values, or say something short."""
    tools = request.get("tools") or []
    if tools:
        function = tools[0]["function"]
        names = (function.get("parameters") or {}).get("properties") or {}
        return Scripted(calls=[(function["name"], dict.fromkeys(names, "x"))])
    return Scripted(f"You said: {last_text(request)[:40]}")


def last_text(request: dict[str, Any]) -> str:
    """The text of the last message with one."""
    for message in reversed(request.get("messages") or []):
        content = message.get("content")
        if isinstance(content, str):
            return content
    return ""


class OpenAIServer:
    """See the module's text."""

    def __init__(
        self,
        answer: Answer = say_ok,
        *,
        models: Sequence[str | dict[str, Any]] = ("test-model",),
        list_key: str = "data",
        limit_rps: float = 0.0,
        keep: bool = True,
        port: int = 0,
        slots: int | None = None,
        lists_slots: bool = True,
    ) -> None:
        """Answer chat requests by `answer`; with `slots`, this many at once, while the others wait in silence."""
        self._slots, self._lists_slots, self._working = slots, lists_slots, 0
        self._queue: deque[tuple[Exchange, dict[str, Any], Scripted]] = deque()
        self.answer, self.models, self._keep, self._port = answer, models, keep, port
        self._list_key = list_key
        self.requests: list[dict[str, Any]] = []
        """Bodies of all chat requests, in order of arrival."""
        self.heads: list[dict[str, str]] = []
        self.counts: Counter[str] = Counter()
        """`chat`, `stream`, `embeddings`, `models`, `connections`, `429` and each fault by name."""
        self.in_flight = self.most_in_flight = 0
        self._failed: Counter[str] = Counter()
        self._connections: list[Connection] = []
        self._rate, self._bucket, self._bucket_at = limit_rps, limit_rps, time.monotonic()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    # ---- running
    def __enter__(self) -> "OpenAIServer":
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(60), "the test server did not start"
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    async def serve(self, announce: Callable[[int], None] = lambda port: None) -> None:
        """Serve until stopped."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()

        def connect() -> Connection:
            self._connections.append(Connection(self._handle, lambda: self.counts.update(["connections"])))
            return self._connections[-1]

        server = await self._loop.create_server(connect, "127.0.0.1", self._port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        announce(self.port)
        self._ready.set()
        await self._stop.wait()
        server.close()
        for connection in self._connections:
            if not connection.lost:
                connection.transport.abort()

    def wait_until_left(self) -> None:
        """Return once all clients, such as one that was killed, have left and what they had sent was handled."""

        async def left() -> None:
            for _ in range(3):  # accepts those that are waiting
                await asyncio.sleep(0)
            async with asyncio.timeout(60):
                await asyncio.gather(*(connection.left.wait() for connection in self._connections))

        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(left(), self._loop).result()

    # ---- answering
    def _handle(self, exchange: Exchange) -> None:
        route = exchange.path.removeprefix("/v1")
        if route == "/chat/completions":
            self._chat(exchange)
        elif route == "/embeddings":
            self.counts["embeddings"] += 1
            if not self._faulty(exchange, exchange.json.get("model", ""), Scripted()):
                self._embed(exchange)
        elif route == "/models":
            self.counts["models"] += 1
            rows = [{"id": row, "object": "model"} if isinstance(row, str) else row for row in self.models]
            exchange.answer_json({"object": "list", self._list_key: rows})
        elif route == "/props" and self._slots is not None and self._lists_slots:
            self.counts["props"] += 1
            exchange.answer_json({"total_slots": self._slots, "model_alias": "m"})
        elif route == "/counts":
            exchange.answer_json({**self.counts, "most_in_flight": self.most_in_flight})
        else:
            exchange.error("404 Not Found", f"no route {route}")

    def _chat(self, exchange: Exchange) -> None:
        request = exchange.json
        self.counts["chat"] += 1
        self.counts["stream"] += bool(request.get("stream"))
        if self._keep:
            self.requests.append(request)
            self.heads.append(exchange.headers)
        if self._rate and not self._token():
            self.counts["429"] += 1
            exchange.error("429 Too Many Requests", "Rate limit reached", "rate_limit_exceeded", retry_after_ms="300")
            return
        scripted = self.answer(request)
        marked = f"{request.get('model', '')} {last_text(request)} " + (
            f"fault:{scripted.fault}" if scripted.fault else ""
        )
        if self._faulty(exchange, marked, scripted):
            return
        self._enter()
        if self._slots is not None:
            self._queue.append((exchange, request, scripted))
            self._work()
        elif scripted.latency_s:
            exchange.later(scripted.latency_s, lambda: self._say(exchange, request, scripted))
        else:
            self._say(exchange, request, scripted)

    def _work(self) -> None:
        """Begin with waiting requests while slots are free, as llama.cpp's server does."""
        while self._queue and self._working < (self._slots or 0):
            exchange, request, scripted = self._queue.popleft()
            if not exchange.alive:
                self.in_flight -= 1
                continue
            self._working += 1
            exchange.loop.call_later(scripted.latency_s, self._end_work, exchange, request, scripted)

    def _end_work(self, exchange: Exchange, request: dict[str, Any], scripted: Scripted) -> None:
        self._working -= 1
        self._say(exchange, request, scripted)
        self._work()

    def _faulty(self, exchange: Exchange, marked: str, scripted: Scripted) -> bool:
        """Play the fault that is asked for, unless it was played often enough."""
        match = _MARKER.search(marked)
        if match is None:
            return False
        if match[1] not in FAULTS:
            exchange.error("400 Bad Request", f"no fault is called {match[1]}")
            return True
        self.counts[match[1]] += 1
        if match[2]:
            self._failed[marked] += 1
            if self._failed[marked] > int(match[2]):
                return False
        if scripted.latency_s:
            self._enter()
            exchange.later(scripted.latency_s, lambda: self._fail(exchange, match[1]))
        else:
            FAULTS[match[1]](exchange)
        return True

    def _fail(self, exchange: Exchange, name: str) -> None:
        self.in_flight -= 1
        if exchange.alive:
            FAULTS[name](exchange)

    def _enter(self) -> None:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def _token(self) -> bool:
        now = time.monotonic()
        self._bucket = min(self._rate, self._bucket + (now - self._bucket_at) * self._rate)
        self._bucket_at = now
        if self._bucket < 1:
            return False
        self._bucket -= 1
        return True

    def _say(self, exchange: Exchange, request: dict[str, Any], scripted: Scripted) -> None:
        self.in_flight -= 1
        if not exchange.alive:
            return
        if not request.get("stream"):
            exchange.answer_json(whole(request, scripted), **scripted.headers)
            return
        events = [frame(event) for event in chunks(request, scripted)]
        exchange.begin_events(**scripted.headers)
        if not scripted.itl_s:
            exchange.piece(b"".join(events) + b"data: [DONE]\n\n")
            exchange.finish()
            return

        def step(number: int) -> None:
            exchange.piece(events[number])
            if number + 1 == len(events):
                exchange.piece(b"data: [DONE]\n\n")
                exchange.finish()

        exchange.every(scripted.itl_s, step, len(events))

    def _embed(self, exchange: Exchange) -> None:
        request = exchange.json
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        plain = "floats" in request["model"]
        rows = []
        for index, text in enumerate(texts):
            numbers = vector(text)
            packed = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
            rows.append({"object": "embedding", "index": index, "embedding": numbers if plain else packed})
        rows.reverse()  # the order of the answer is the index, not the place
        exchange.answer_json({"object": "list", "data": rows, "model": request["model"], "usage": {"prompt_tokens": 1}})


def _usage(request: dict[str, Any], scripted: Scripted) -> Any:
    if scripted.usage != "count":
        return scripted.usage
    sent = len(json.dumps([request.get("messages"), request.get("tools", [])])) // 4
    written = max(1, (len(scripted.content or "") + len(scripted.reasoning) + 20 * len(scripted.calls)) // 4)
    return {
        "prompt_tokens": sent,
        "completion_tokens": written,
        "total_tokens": sent + written,
        "completion_tokens_details": {"reasoning_tokens": len(scripted.reasoning) // 4},
    }


def _calls(scripted: Scripted) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": value if isinstance(value, str) else json.dumps(value)},
        }
        for number, (name, value) in enumerate(scripted.calls)
    ]


def _logprobs(scripted: Scripted) -> dict[str, Any]:
    """The member `logprobs` of a choice, if there are any."""
    tokens = [
        {
            "token": token,
            "logprob": number,
            "bytes": list(token.encode()),
            "top_logprobs": [{"token": other, "logprob": value, "bytes": None} for other, value in top.items()],
        }
        for token, number, top in scripted.logprobs
    ]
    return {"logprobs": {"content": tokens}} if tokens else {}


def whole(request: dict[str, Any], scripted: Scripted) -> dict[str, Any]:
    """The answer in one body."""
    message: dict[str, Any] = {"role": "assistant", "content": scripted.content}
    if scripted.reasoning:
        message["reasoning_content"] = scripted.reasoning
    if scripted.calls:
        message["tool_calls"] = _calls(scripted)
    finish = scripted.finish or ("tool_calls" if scripted.calls else "stop")
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": scripted.model or request.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish} | _logprobs(scripted)],
        **scripted.extra,
    }
    usage = _usage(request, scripted)
    return body if usage is None else body | {"usage": usage}


def chunks(request: dict[str, Any], scripted: Scripted) -> list[dict[str, Any]]:
    """The answer as stream chunks."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
    head |= {"model": scripted.model or request.get("model"), **scripted.extra}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def pieces(text: str) -> list[str]:
        return [text[at : at + scripted.chunk] for at in range(0, len(text), scripted.chunk)]

    out = [chunk({"role": "assistant", "content": None if scripted.content is None else ""})]
    out += [chunk({"reasoning_content": piece}) for piece in pieces(scripted.reasoning)]
    tokens = [replace(scripted, logprobs=[token]) for token in scripted.logprobs]
    for token in tokens:
        out.append(chunk({"content": token.logprobs[0][0]}))
        out[-1]["choices"][0] |= _logprobs(token)
    if not tokens:
        out += [chunk({"content": piece}) for piece in pieces(scripted.content or "")]
    for index, call in enumerate(_calls(scripted)):
        function = call["function"]
        first = {"index": index, "id": call["id"], "type": "function"}
        out.append(chunk({"tool_calls": [first | {"function": {"name": function["name"], "arguments": ""}}]}))
        out += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            for piece in pieces(function["arguments"])
        ]
    out.append(chunk({}, scripted.finish or ("tool_calls" if scripted.calls else "stop")))
    usage = _usage(request, scripted)
    if usage is not None and (request.get("stream_options") or {}).get("include_usage"):
        out.append(head | {"choices": [], "usage": usage})
    return out
