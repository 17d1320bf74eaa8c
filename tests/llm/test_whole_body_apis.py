"""Bedrock's and Cohere's APIs, which answer with one body, and Writer's, which is chat at another path."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply
from console.core.fault import Fault, FaultKind
from console.llm.endpoint import Endpoint
from console.llm.wires.bedrock import converse_body
from console.llm.wires.cohere import cohere_body

Json = dict[str, Any]
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "Tells.", "parameters": {"type": "object", "properties": {}}},
}
USAGE: dict[str, Json] = {
    "bedrock": {"inputTokens": 11, "outputTokens": 7},
    "cohere": {"tokens": {"input_tokens": 11, "output_tokens": 7}},
}


def body_of(api: str, text: str | None = None, call: Json | None = None, thought: str = "", end: str = "") -> Json:
    """Return what the server of an API answers."""
    if api == "bedrock":
        blocks: list[Json] = [{"reasoningContent": {"reasoningText": {"text": thought, "signature": "signed=="}}}]
        blocks = blocks if thought else []
        blocks += [{"text": text}] if text is not None else []
        blocks += [{"toolUse": {"toolUseId": "t1", "name": "weather", "input": call}}] if call is not None else []
        reason = end or ("tool_use" if call is not None else "end_turn")
        return {
            "output": {"message": {"role": "assistant", "content": blocks}},
            "stopReason": reason,
            "usage": USAGE[api],
        }
    parts: list[Json] = [{"type": "thinking", "thinking": thought}] if thought else []
    parts += [{"type": "text", "text": text}] if text is not None else []
    function = {"name": "weather", "arguments": json.dumps(call)}
    message: Json = {"role": "assistant", **({"content": parts} if parts else {})}
    if call is not None:
        message |= {"tool_plan": "Plan.", "tool_calls": [{"id": "t1", "type": "function", "function": function}]}
    reason = end or ("TOOL_CALL" if call is not None else "COMPLETE")
    return {"id": "c1", "finish_reason": reason, "message": message, "usage": USAGE["cohere"]}


class Server:
    """Answers each request with the next body; remembers paths, keys and requests."""

    def __init__(self, *bodies: Json | bytes) -> None:
        self.bodies = [body if isinstance(body, bytes) else json.dumps(body).encode() for body in bodies]
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.requests: list[Json] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.paths.append(self.path)
                outer.keys.append(self.headers.get("authorization"))
                outer.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                body = outer.bodies.pop(0) if len(outer.bodies) > 1 else outer.bodies[0]
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def connected(connect: Callable[..., Endpoint]) -> Iterator[Callable[..., tuple[Endpoint, Server]]]:
    servers: list[Server] = []

    def make(api: str, *bodies: Json | bytes) -> tuple[Endpoint, Server]:
        servers.append(Server(*bodies))
        address = f"http://127.0.0.1:{servers[-1].http.server_port}/v1"
        return connect(None, provider=api, base_url=address, temperature=0.5), servers[-1]

    yield make
    for server in servers:
        server.http.shutdown()
        server.http.server_close()


def asked(**more: Any) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": "How warm is it?"}], **more)


@pytest.mark.parametrize(("api", "path"), [("bedrock", "/v1/model/m/converse"), ("cohere", "/v1/chat")])
async def test_calls_and_thoughts_go_back_as_they_came(api, path, connected, seen, key):
    called = body_of(api, call={"city": "Zürich"}, thought="I look it up.")
    endpoint, server = connected(api, called, body_of(api, "Warm."))
    reply = await endpoint.ask(asked(tools=[TOOL]), seen)
    (call,) = reply.tool_calls
    assert (call.name, json.loads(call.arguments), reply.finish) == ("weather", {"city": "Zürich"}, "tool_calls")
    assert reply.reasoning == "I look it up."
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (11, 7)
    again = msgspec.convert(msgspec.json.decode(msgspec.json.encode(reply)), Reply)  # as a resume finds it
    results: list[Message] = [{"role": "tool", "content": text, "tool_call_id": call.id} for text in ("31", "32")]
    second = await endpoint.ask(ChatRequest([*asked().messages, again.message(), *results], [TOOL]), seen)
    assert (second.content, second.finish) == ("Warm.", "stop")
    assert server.paths == [path, path]
    assert server.keys == [f"Bearer {key}"] * 2
    sent = server.requests[1]["messages"]
    if api == "bedrock":
        assert sent[1] == called["output"]["message"]
        shown = [{"toolResult": {"toolUseId": "t1", "content": [{"text": text}]}} for text in ("31", "32")]
        assert sent[2:] == [{"role": "user", "content": shown}]
    else:
        assert sent[1] == called["message"]
        texts = [message["content"] for message in sent[2:]]
        assert texts == [[{"type": "text", "text": "31"}], [{"type": "text", "text": "32"}]]


CUT = [
    ("bedrock", {"end": "max_tokens"}, "length"),
    ("bedrock", {"end": "guardrail_intervened"}, "content_filter"),
    ("cohere", {"end": "MAX_TOKENS"}, "length"),
    ("cohere", {"end": "ERROR_TOXIC"}, "content_filter"),
]


@pytest.mark.parametrize(("api", "more", "finish"), CUT)
async def test_known_ends_are_named(api, more, finish, connected, seen):
    endpoint, _ = connected(api, body_of(api, "Half a sent", **more))
    assert (await endpoint.ask(asked(), seen)).finish == finish


def damaged() -> Iterator[tuple[str, Json | bytes]]:
    """Yield bodies of which a part is missing, of another type or contradicts its end."""
    for api in ("bedrock", "cohere"):
        yield api, b"<html>login</html>"
        yield api, b"[]"
        yield api, {}
        yield api, {"message": "overloaded"}
        yield api, body_of(api, "Whole?", end="something_new")
        yield api, body_of(api, "No call.", end="tool_use" if api == "bedrock" else "TOOL_CALL")
        yield api, body_of(api, call={}, end="end_turn" if api == "bedrock" else "COMPLETE")
        yield api, json.dumps(body_of(api, "Cut off"))[:-20].encode()
    for content in ("text", {}, None, [1], [{}], [{"text": 1}], [{"toolUse": {"name": "f", "input": {}}}]):
        yield "bedrock", {"output": {"message": {"content": content}}, "stopReason": "end_turn"}
    for message in (
        *(None, "text", [], {"content": "text"}, {"content": [1]}, {"content": [{"type": "text"}]}),
        *({"content": [{"type": "new", "new": "x"}]}, {"tool_calls": {}}, {"tool_calls": [{"id": "t"}]}),
    ):
        yield "cohere", {"message": message, "finish_reason": "COMPLETE"}


@pytest.mark.parametrize(("api", "body"), list(damaged()))
async def test_a_damaged_body_is_never_a_reply(api, body, connected, seen):
    endpoint, _ = connected(api, body)
    with pytest.raises(Fault) as raised:
        await asyncio.wait_for(endpoint.ask(asked(), seen), 30)
    assert raised.value.kind in (FaultKind.BAD_ANSWER, FaultKind.TRUNCATED, FaultKind.SERVER, FaultKind.BROKEN_STREAM)


@pytest.mark.parametrize("api", ["bedrock", "cohere"])
async def test_an_echoed_key_never_arrives(api, connected, seen, key):
    endpoint, _ = connected(api, body_of(api, f"my key is {key}", thought=f"hm, {key}"))
    reply = await endpoint.ask(asked(), seen)
    assert key.encode() not in msgspec.json.encode(reply)
    assert key[:20] not in "".join(text for _, text in seen.texts)


def test_settings_have_their_places():
    model = ModelConfig(name="m", model_id="m", temperature=0.5, max_tokens=9, params={"top_p": 0.9, "extra": 1})
    body = converse_body(model, ChatRequest([{"role": "system", "content": "Be brief."}, *asked().messages], [TOOL]))
    assert body["inferenceConfig"] == {"temperature": 0.5, "maxTokens": 9, "topP": 0.9}
    assert (body["system"], body["extra"]) == ([{"text": "Be brief."}], 1)
    assert body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"] == {"json": {"type": "object", "properties": {}}}
    assert cohere_body(model, asked()) == {
        "model": "m",
        "messages": asked().messages,
        "stream": False,
        "temperature": 0.5,
        "max_tokens": 9,
        "top_p": 0.9,
        "extra": 1,
    }


@pytest.mark.parametrize("api", ["bedrock", "cohere"])
async def test_what_another_api_said_is_sent_in_the_plain_form(api, connected, seen):
    endpoint, server = connected(api, body_of(api, "ok"))
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
    other = {"api": "elsewhere", "content": [{"strange": True}]}
    messages: list[Any] = [
        *asked().messages,
        {"role": "assistant", "content": None, "tool_calls": [call], "native": other},
        {"role": "tool", "content": "warm", "tool_call_id": "c"},
    ]
    await endpoint.ask(ChatRequest(messages, [TOOL]), seen)
    sent = json.dumps(server.requests[0])
    assert "strange" not in sent
    assert all(text in sent for text in ("weather", "Bern", "warm"))


async def test_writer_is_chat_at_its_own_path(connected, seen):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Warm."}, "finish_reason": "stop"}]}
    endpoint, server = connected("writer", body)
    assert (await endpoint.ask(asked(params={"stream": False}), seen)).content == "Warm."
    assert server.paths == ["/v1/chat"]
