"""The Responses, Anthropic, Gemini, Ollama and completion APIs against a server that speaks them."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import msgspec
import pytest
from server.api_server import EVENTS_BY_API, ApiServer, Said

from console.core.chat import ChatRequest, Message, Reply
from console.core.fault import Fault, FaultKind
from console.core.provider import PROVIDERS
from console.llm.endpoint import Endpoint

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
NATIVE = ("responses", "anthropic", "gemini")
TALKING = (*NATIVE, "ollama")
APIS = (*TALKING, "completions")
WORDS = {
    "responses": "responses",
    "anthropic": "messages",
    "gemini": "streamGenerateContent",
    "ollama": "chat",
    "completions": "completions",
}


def test_every_api_is_tried() -> None:
    """Chat completions and the APIs without streams have tests of their own."""
    elsewhere = {"openai", "bedrock", "cohere", "writer"}
    untried = {name for name, provider in PROVIDERS.items() if provider.api} - {*APIS, *elsewhere}
    assert not untried, (
        f"no test of this module asks {sorted(untried)}: add it to APIS (to TALKING if it has tools) and WORDS here, "
        "and what its server sends to EVENTS_BY_API of server/api_server.py, and to SENT_AS_LINES if it streams NDJSON"
    )


@pytest.fixture
def scripted() -> Iterator[Callable[..., ApiServer]]:
    running: list[ApiServer] = []

    def start(*script: Said) -> ApiServer:
        running.append(ApiServer(script).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__(None)


@pytest.fixture
def connected(connect: Callable[..., Endpoint], scripted: Callable[..., ApiServer]):
    """Return a maker of an endpoint and the server that it asks."""

    def make(api: str, *script: Said, limits: dict[str, Any] | None = None) -> tuple[Endpoint, ApiServer]:
        server = scripted(*script)
        return connect(limits, provider=api, base_url=server.base_url, temperature=0.5), server

    return make


def asked(api: str, text: str = "How warm is it?", **more: Any) -> ChatRequest:
    role = "prompt" if api == "completions" else "user"
    return ChatRequest([{"role": role, "content": text}], **more)


@pytest.mark.parametrize("api", APIS)
async def test_a_text_streams_and_counts(api, connected, seen):
    endpoint, server = connected(api, Said("Warm, and it will stay so."))
    reply = await endpoint.ask(asked(api), seen)
    assert reply.content == "Warm, and it will stay so." == seen.text()
    assert len(seen.texts) > 1
    assert (reply.finish, reply.model) == ("stop", "m-1")
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (11, 7)
    assert reply.usage.cached == (3 if api in NATIVE else 0)
    assert reply.first_token_s is not None
    assert WORDS[api] in server.paths[0]


@pytest.mark.parametrize("api", TALKING)
async def test_calls_and_thoughts_stream_and_go_back_as_they_came(api, connected, seen):
    endpoint, server = connected(
        api, Said("", [("weather", {"city": "Zürich"})], reasoning="I look it up."), Said("Warm.")
    )
    reply = await endpoint.ask(asked(api, tools=[TOOL]), seen)
    (call,) = reply.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("weather", {"city": "Zürich"})
    assert reply.reasoning.strip() == "I look it up." == seen.text("reasoning")
    assert "weather" in seen.text("tool")
    assert reply.finish == "tool_calls"
    again = msgspec.convert(msgspec.json.decode(msgspec.json.encode(reply)), Reply)  # as a resume finds it
    result: Message = {"role": "tool", "content": "31 degrees", "tool_call_id": call.id}
    messages: list[Message] = [{"role": "user", "content": "How warm is it?"}, again.message(), result]
    await endpoint.ask(ChatRequest(messages, [TOOL]), seen)
    sent = json.dumps(server.requests[1])
    if api in NATIVE:
        assert ("sealed==" if api == "responses" else "signed==") in sent
        assert "I look it up." in sent
    assert "weather" in sent
    assert "31 degrees" in sent


@pytest.mark.parametrize("api", TALKING)
async def test_what_another_api_said_is_sent_in_the_plain_form(api, connected, seen):
    endpoint, server = connected(api, Said("ok"))
    other = {"api": "elsewhere", "content": [{"strange": True}]}
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call], "native": other},
        {"role": "tool", "content": "warm", "tool_call_id": "c"},
    ]
    await endpoint.ask(ChatRequest(messages, [TOOL]), seen)
    sent = json.dumps(server.requests[0])
    assert "strange" not in sent
    assert all(text in sent for text in ("Be brief.", "weather", "Bern", "warm"))


@pytest.mark.parametrize(
    ("api", "header"),
    [
        ("responses", "authorization"),
        ("anthropic", "x-api-key"),
        ("gemini", "x-goog-api-key"),
        ("ollama", "authorization"),
    ],
)
async def test_the_key_travels_in_a_header_of_the_api(api, header, connected, seen, key):
    endpoint, server = connected(api, Said("ok"))
    await endpoint.ask(asked(api), seen)
    assert server.heads[0][header].removeprefix("Bearer ") == key
    assert key not in server.paths[0] + json.dumps(server.requests[0])
    assert [name for name, value in server.heads[0].items() if key in value] == [header]


@pytest.mark.parametrize("api", APIS)
async def test_an_echoed_key_never_arrives(api, connected, seen, key):
    calls = [] if api == "completions" else [("weather", {"city": key})]
    endpoint, _ = connected(api, Said(f"my key is {key}", calls, reasoning=f"hm, {key}"))
    reply = await endpoint.ask(asked(api), seen)
    assert key.encode() not in msgspec.json.encode(reply)
    assert key[:20] not in "".join(text for _, text in seen.texts)


@pytest.mark.parametrize("api", APIS)
async def test_a_rate_limit_is_waited_for(api, connected, seen):
    limited = Said(
        status="429 Too Many Requests", error={"error": {"message": "slow down"}}, headers={"retry_after": "0"}
    )
    endpoint, server = connected(api, limited, Said("ok"), limits={"max_tries": 3})
    assert (await endpoint.ask(asked(api), seen)).content == "ok"
    assert len(server.requests) == 2
    assert seen.failed[0][0].kind is FaultKind.RATE_LIMIT


@pytest.mark.parametrize("api", APIS)
async def test_a_refused_key_halts(api, connected, seen, key):
    refused = Said(
        status="401 Unauthorized", error={"error": {"message": f"bad key {key}", "type": "authentication_error"}}
    )
    endpoint, _ = connected(api, refused)
    with pytest.raises(Fault) as raised:
        await endpoint.ask(asked(api), seen)
    assert raised.value.kind is FaultKind.AUTH
    assert key not in raised.value.message


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("way", ["cut", "ended"])
async def test_a_stream_that_breaks_off_is_never_a_reply(api, way, connected, seen):
    calls = [] if api == "completions" else [("weather", {"city": "Bern"})]
    whole = Said("A sentence of some length.", calls, reasoning="" if api == "completions" else "Some thoughts.")
    count = len(EVENTS_BY_API[WORDS[api]](whole))
    if way == "ended":
        script = [Said(whole.text, calls, whole.reasoning, ends_without_last=True)]
    else:
        script = [Said(whole.text, calls, whole.reasoning, cut_after=number) for number in range(count)]
    endpoint, _ = connected(api, *script)
    for _ in script:
        with pytest.raises(Fault) as raised:
            await endpoint.ask(asked(api), seen)
        assert raised.value.kind in (FaultKind.TRUNCATED, FaultKind.BROKEN_STREAM, FaultKind.BAD_ANSWER)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"message": "out of memory"}},
    ],
)
async def test_an_error_in_the_stream_is_a_fault(api, event, connected, seen):
    endpoint, _ = connected(api, Said("Half a sentence and more.", error_event=event))
    with pytest.raises(Fault) as raised:
        await endpoint.ask(asked(api), seen)
    assert "Half" in raised.value.partial


@pytest.mark.parametrize(
    ("api", "end", "finish"),
    [
        ("responses", "incomplete", "length"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "refusal", "content_filter"),
        ("gemini", "MAX_TOKENS", "length"),
        ("gemini", "SAFETY", "content_filter"),
        ("ollama", "length", "length"),
        ("completions", "length", "length"),
    ],
)
async def test_known_ends_are_named(api, end, finish, connected, seen):
    endpoint, _ = connected(api, Said("Half a sent", end=end))
    assert (await endpoint.ask(asked(api), seen)).finish == finish


@pytest.mark.parametrize(
    ("api", "end"),
    [
        ("responses", "failed"),
        ("responses", "cancelled"),
        ("anthropic", "pause_turn"),
        ("anthropic", "something_new"),
        ("gemini", "OTHER"),
        ("ollama", "load"),
        ("ollama", "unload"),
        ("ollama", "None"),
        ("gemini", "MALFORMED_FUNCTION_CALL"),
        ("completions", "abort"),
    ],
)
async def test_an_unknown_end_proves_nothing(api, end, connected, seen):
    endpoint, _ = connected(api, Said("A whole sentence?", end=end))
    with pytest.raises(Fault):
        await endpoint.ask(asked(api), seen)


async def test_a_conversation_has_no_form_as_a_completion(connected, seen):
    endpoint, server = connected("completions", Said("ok"))
    with pytest.raises(Fault) as raised:
        await endpoint.ask(ChatRequest([{"role": "user", "content": "hi"}]), seen)
    assert "bfcl_name" in raised.value.hint
    assert server.requests == []


@pytest.mark.parametrize("api", TALKING)
async def test_no_embeddings_are_offered(api, connected, seen):
    endpoint, server = connected(api, Said("ok"))
    with pytest.raises(Fault, match="offers no embeddings"):
        await endpoint.embed(["text"], seen)
    assert server.requests == []


async def test_a_failed_response_is_typed_and_quotes_no_key(connected, seen, key):
    error = {"code": "server_error", "message": f"we failed with {key}"}
    endpoint, _ = connected("responses", Said("Half", end="failed", error=error))
    with pytest.raises(Fault) as raised:
        await endpoint.ask(asked("responses"), seen)
    assert raised.value.kind is FaultKind.SERVER
    assert "we failed" in raised.value.message
    assert key not in raised.value.message


@pytest.mark.parametrize(
    ("context", "most", "flags"),
    [
        (None, 4096, ("max_tokens 4096: the server counts no tokens",)),
        (10_000, 4096, ()),
        (100 + 2 + 4096, 4096, ()),
        (100 + 2 + 50, 50, ()),
        (100 + 2, 0, ()),
        (101, 1000, ()),
    ],
)
async def test_a_completion_may_write_what_its_prompt_leaves(context, most, flags, connected, seen):
    endpoint, server = connected("completions", Said("ok"))
    server.context = context
    replies = [await endpoint.ask(asked("completions", "x" * 400), seen) for _ in range(2)]
    assert [request["max_tokens"] for request in server.requests] == [most, most]
    assert [reply.flags for reply in replies] == [flags, flags]
    assert all(question["add_special_tokens"] is False for question in server.counted)


async def test_a_model_with_max_tokens_is_not_counted(connect, scripted, seen):
    server = scripted(Said("ok"))
    server.context = 200
    endpoint = connect(None, provider="completions", base_url=server.base_url, max_tokens=7)
    await endpoint.ask(asked("completions"), seen)
    assert (server.requests[0]["max_tokens"], server.counted) == (7, [])


async def test_arguments_of_ollama_are_objects_and_its_settings_options(connected, seen):
    endpoint, server = connected("ollama", Said("ok"))
    call = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
    messages: list[Any] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "warm", "tool_call_id": "c"},
    ]
    await endpoint.ask(ChatRequest(messages, params={"max_tokens": 9, "think": False}), seen)
    assert server.requests == [
        {
            "model": "m",
            "messages": [
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Bern"}}}],
                },
                {"role": "tool", "content": "warm", "tool_name": "weather"},
            ],
            "stream": True,
            "think": False,
            "options": {"temperature": 0.5, "num_predict": 9},
        }
    ]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", FaultKind.BAD_ANSWER),
        (b"\n\n", FaultKind.BAD_ANSWER),
        (b"<html>login</html>", FaultKind.BAD_ANSWER),
        (b"upstream down\n", FaultKind.BAD_ANSWER),
        (b'{"error": "model runner has unexpectedly stopped"}\n', FaultKind.SERVER),
        (b'{"error": "model runner has unexpectedly stopped"}', FaultKind.SERVER),
        (b'{"message": {"content": "Half"}, "done": false}\n<html>502</html>\n', FaultKind.BAD_ANSWER),
        (b'{"message": {"content": "Half"}, "done": false}\n{"message": {"con', FaultKind.TRUNCATED),
        (b'{"message": {"content": "Whole?"}, "done": true}\n', FaultKind.TRUNCATED),
        (b'{"message": {"content": "Whole."}, "done": true, "done_reason": "stop"}', None),
        (b'\xef\xbb\xbf{"message": {"content": "Whole."}, "done": true, "done_reason": "stop"}\r\n', None),
    ],
)
async def test_lines_of_any_kind_are_a_whole_reply_or_a_fault(body, kind, connect, seen):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        endpoint = connect(None, provider="ollama", base_url=f"http://127.0.0.1:{server.server_port}")
        if kind is None:
            assert (await endpoint.ask(asked("ollama"), seen)).content == "Whole."
        else:
            with pytest.raises(Fault) as raised:
                await endpoint.ask(asked("ollama"), seen)
            assert raised.value.kind is kind
        server.shutdown()
