"""A server on 127.0.0.1 that answers the chat, Responses, Anthropic, Gemini, Ollama and completions APIs by a script.

    with ApiServer([Said("hello")]) as server:
        ... base_url = server.base_url ...

Each request takes the next line of the script; the last one is repeated. The path says which API is asked.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from server.http1 import Connection, Exchange

Json = dict[str, Any]


@dataclass
class Said:
    """What the server says to one request."""

    text: str = ""
    calls: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    reasoning: str = ""
    end: str = ""
    """The API's own word for why it ended; empty: its usual one."""
    status: str = "200 OK"
    """Another status answers with `error` as the body."""
    error: Json = field(default_factory=dict[str, Any])
    error_event: Json | None = None
    """Sent in the middle of the stream, in place of the end."""
    cut_after: int | None = None
    """Events after which the connection is closed; None: all are sent."""
    held_after: int | None = None
    """Events after which nothing more comes, on a connection that stays open; the server's `holds` tells of it."""
    ends_without_last: bool = False
    """Whether the stream ends properly, but without its last event."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    events: list[Any] | None = None
    """Sent in place of all other events; bytes as they are."""


def pieces(text: str) -> list[str]:
    """Cut a text into the deltas of a stream."""
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def responses_events(said: Said) -> list[Json]:
    """Return the events of the Responses API."""
    output: list[Json] = []
    events: list[Json] = [{"type": "response.created", "response": {"status": "in_progress", "error": None}}]
    if said.reasoning:
        summary = [{"type": "summary_text", "text": said.reasoning}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "sealed=="})
        events += [{"type": "response.reasoning_summary_text.delta", "delta": part} for part in pieces(said.reasoning)]
    if said.text:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        output.append({"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": content})
        events += [{"type": "response.output_text.delta", "delta": part} for part in pieces(said.text)]
    for number, (name, arguments) in enumerate(said.calls):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name}
        events.append({"type": "response.output_item.added", "item": {**item, "arguments": ""}})
        written = json.dumps(arguments)
        events += [{"type": "response.function_call_arguments.delta", "delta": part} for part in pieces(written)]
        output.append({**item, "arguments": written, "status": "completed"})
    status = said.end or "completed"
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "input_tokens_details": {"cached_tokens": 3},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    response = {"object": "response", "id": "resp_1", "model": "m-1", "status": status, "output": output}
    details = {"reason": "max_output_tokens"} if status == "incomplete" else None
    error = said.error or None
    whole = {**response, "usage": usage, "error": error, "incomplete_details": details}
    return [*events, {"type": f"response.{status}", "response": whole}]


def anthropic_events(said: Said) -> list[Json]:
    """Return the events of the Anthropic API."""
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [], "stop_reason": None}
    usage = {"input_tokens": 8, "cache_read_input_tokens": 3, "output_tokens": 1}
    events: list[Json] = [{"type": "message_start", "message": {**start, "usage": usage}}, {"type": "ping"}]
    blocks: list[tuple[Json, list[Json]]] = []
    if said.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces(said.reasoning)]
        signature = {"type": "signature_delta", "signature": "signed=="}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]))
    if said.text:
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in pieces(said.text)])
        )
    for number, (name, arguments) in enumerate(said.calls):
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in pieces(json.dumps(arguments))]
        blocks.append(({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    reason = said.end or ("tool_use" if said.calls else "end_turn")
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}})
    return [*events, {"type": "message_stop"}]


def gemini_events(said: Said) -> list[Json]:
    """Return the chunks of the Gemini API."""
    parts: list[Json] = [{"text": part, "thought": True} for part in pieces(said.reasoning)]
    parts += [{"text": part} for part in pieces(said.text)]
    parts += [
        {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "signed=="}
        for name, arguments in said.calls
    ]
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "cachedContentTokenCount": 3}
    chunks = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]
    last: Json = {"candidates": [{"finishReason": said.end or "STOP", "index": 0}], "usageMetadata": usage}
    return [*chunks, {**last, "modelVersion": "m-1"}]


def completion_events(said: Said) -> list[Json]:
    """Return the chunks of the completions API."""
    chunks: list[Json] = [{"model": "m-1", "choices": [{"index": 0, "text": part}]} for part in pieces(said.text)]
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return [*chunks, {"choices": [{"index": 0, "text": "", "finish_reason": said.end or "stop"}], "usage": usage}]


def chat_events(said: Said) -> list[Json]:
    """Return the chunks of the chat completions API."""
    deltas: list[Json] = [{"reasoning_content": part} for part in pieces(said.reasoning)]
    deltas += [{"content": part} for part in pieces(said.text)]
    for number, (name, arguments) in enumerate(said.calls):
        head = {"index": number, "id": f"call_{number}", "type": "function"}
        deltas.append({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
        written = pieces(json.dumps(arguments))
        deltas += [{"tool_calls": [{"index": number, "function": {"arguments": part}}]} for part in written]
    reason = said.end or ("tool_calls" if said.calls else "stop")
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
    return [*({"model": "m-1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas), last]


def ollama_events(said: Said) -> list[Json]:
    """Return the lines of Ollama's API."""
    messages: list[Json] = [{"content": "", "thinking": part} for part in pieces(said.reasoning)]
    messages += [{"content": part} for part in pieces(said.text)]
    calls = [{"function": {"name": name, "arguments": arguments}} for name, arguments in said.calls]
    messages += [{"content": "", "tool_calls": [call]} for call in calls]
    lines = [{"model": "m-1", "message": {"role": "assistant", **message}, "done": False} for message in messages]
    counts = {"prompt_eval_count": 11, "eval_count": 7, "total_duration": 5_000_000}
    ended = {"model": "m-1", "message": {"role": "assistant", "content": ""}, "done": True}
    return [*lines, {**ended, "done_reason": said.end or "stop", **counts}]


EVENTS_BY_API: dict[str, Callable[[Said], list[Json]]] = {
    "responses": responses_events,
    "messages": anthropic_events,
    "streamGenerateContent": gemini_events,
    "completions": completion_events,
    "chat/completions": chat_events,
    "chat": ollama_events,
}
"""By the last word of a request's path, or the last two."""
SENT_AS_LINES = frozenset({"chat"})
"""Those of them that send one JSON object a line; the others send server-sent events."""


def api_of(path: str) -> str:
    """Return the API that a path belongs to; its last word where that is none."""
    word = path.partition("?")[0].rpartition("/")[2].rpartition(":")[2]
    return f"chat/{word}" if path.endswith(f"/chat/{word}") else word


class ApiServer:
    """See the module's text."""

    def __init__(self, script: Sequence[Said], served: Sequence[str] = (), port: int = 0) -> None:
        self.served = served
        """Ids of the list of models."""
        self.script = list(script)
        self.requests: list[Json] = []
        """Bodies, in order of arrival."""
        self.context: int | None = None
        """Tokens of the model's context; None: this server counts no tokens. It counts four characters as one."""
        self.counted: list[Json] = []
        """Bodies of requests to count tokens."""
        self.paths: list[str] = []
        self.heads: list[dict[str, str]] = []
        self.holds = threading.Event()
        """An answer is being held."""
        self._ready, self._stop = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self.port = port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "ApiServer":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(60), "the test server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        assert self._thread is not None
        self._thread.join(60)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(self._handle, lambda: None), "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await asyncio.to_thread(self._stop.wait)
        server.close()

    def _handle(self, exchange: Exchange) -> None:
        if exchange.path == "/tokenize" and self.context is not None:
            self.counted.append(exchange.json)
            exchange.answer_json({"count": len(exchange.json["prompt"]) // 4, "max_model_len": self.context})
            return
        if exchange.path in ("/tokenize", "/v1/models"):
            status = "404 Not Found" if exchange.path == "/tokenize" else "200 OK"
            exchange.answer_json({"data": [{"id": name} for name in self.served]}, status)
            return
        self.paths.append(exchange.path)
        self.heads.append(exchange.headers)
        self.requests.append(exchange.json)
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        word = api_of(exchange.path)
        if said.status != "200 OK" or word not in EVENTS_BY_API:
            exchange.answer_json(said.error, said.status if word in EVENTS_BY_API else "404 Not Found", **said.headers)
            return
        self._stream(exchange, said, word)

    def _stream(self, exchange: Exchange, said: Said, word: str) -> None:
        send = exchange.begin_lines() if word in SENT_AS_LINES else exchange.begin_events()
        events = EVENTS_BY_API[word](said) if said.events is None else said.events
        if said.error_event is not None:
            events = [*events[: len(events) // 2], said.error_event]
        if said.ends_without_last:
            events = events[:-1]
        for event in events[: said.cut_after if said.held_after is None else said.held_after]:
            send(event)
        if said.held_after is not None:
            self.holds.set()
            return
        if said.cut_after is not None:
            exchange.cut()
            return
        if word.endswith("completions"):
            exchange.event(b"[DONE]")
        exchange.finish()
