"""The request that is sent is the one that OpenAI's own client would send, apart from what we say about ourselves."""

import pytest
from server.openai_server import Scripted
from support.quick_rows import first_quick

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
MESSAGES = [
    {"role": "system", "content": "Ünï — 漢字 \u2028"},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "1"},
]  # fmt: skip


@pytest.mark.parametrize("streamed", first_quick([True, False]))
async def test_body_and_essential_headers_are_equal(connect, question, seen, server, key, streamed):
    openai = pytest.importorskip("openai")
    server.answer, before = (lambda _: Scripted("ok")), server.answer
    try:
        params = {"top_p": 0.5, "seed": 3, "store": False} | ({} if streamed else {"stream": False})
        asked = question(tools=TOOLS)
        asked.messages[:] = MESSAGES
        await connect(temperature=0.25, max_tokens=9, params=params).ask(asked, seen)
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key=key, max_retries=0) as client:
            extra = {"stream": True, "stream_options": {"include_usage": True}} if streamed else {}
            answer = await client.chat.completions.create(
                model="m", messages=MESSAGES, tools=TOOLS, temperature=0.25, max_tokens=9, top_p=0.5, seed=3,
                store=False, **extra,
            )  # fmt: skip
            if streamed:
                async for _ in answer:
                    pass
    finally:
        server.answer = before
    ours, theirs = server.requests[-2:]
    assert ours == theirs
    for name in ("authorization", "content-type", "host"):
        assert server.heads[-2][name] == server.heads[-1][name]


async def test_a_setting_of_none_is_left_out(connect, question, seen, server):
    await connect(temperature=0.5, max_tokens=5).ask(question(params={"temperature": None}), seen)
    assert "temperature" not in server.requests[-1]
    assert server.requests[-1]["max_tokens"] == 5


async def test_addresses_with_a_query_are_used_right(connect, question, seen, server):
    reply = await connect(base_url=server.base_url + "?api-version=1").ask(question("hi"), seen)
    assert reply.content == "You said: hi"


async def test_further_headers_are_sent(connect, question, seen, server):
    await connect(headers={"X-Title": "me", "authorization": "Other scheme"}).ask(question("hi"), seen)
    assert server.heads[-1]["x-title"] == "me"
    assert server.heads[-1]["authorization"] == "Other scheme"
