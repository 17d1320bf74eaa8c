"""The gateway: what clients send and get, and whose call it is."""

import asyncio
import base64
import json
import struct
import zlib
from typing import Any

import aiohttp
import pytest

from console.core.chat import Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.llm.gateway.dialect import GatewayCall
from console.llm.gateway.server import ROLLOUT, Answers, Gateway

HELLO = {"model": "any", "messages": [{"role": "user", "content": "hello"}]}
REPLY = Reply("hi", (ToolCall("c1", "add", '{"x": 1}'),), "hm", "tool_calls", Usage(7, 3), model="m")


class Clients:
    """A gateway with one rollout, and a client."""

    async def __aenter__(self) -> "Clients":
        self.gateway, self.heard = Gateway(), list[tuple[str, GatewayCall]]()
        await self.gateway.open()
        self.token = self.gateway.admit(Answers(self.answer, self.embed, ("model", "judge", "user", "embedding")))
        self.http = aiohttp.ClientSession()
        self.fault: Fault | None = None
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.close()
        await self.gateway.aclose()

    async def answer(self, role: str, call: GatewayCall) -> Reply:
        self.heard.append((role, call))
        if self.fault is not None:
            raise self.fault
        return REPLY

    async def embed(self, role: str, texts: list[str]) -> list[list[float]]:
        self.embedded = role, texts
        return [[0.5, float(len(text))] for text in texts]

    async def post(self, path: str, body: dict[str, Any], **headers: str) -> tuple[int, str]:
        async with self.http.post(self.gateway.url + path, json=body, headers=headers) as response:
            return response.status, await response.text()


async def test_a_chat_call_is_passed_on_as_it_is_and_answered_whole() -> None:
    async with Clients() as clients:
        body = HELLO | {"temperature": 0, "tools": [{"type": "function"}], "user": "u1", "top_k": 3, "stop": None}
        status, text = await clients.post(f"/c/{clients.token}/v1/chat/completions", body)
    (role, call), answer = clients.heard[0], json.loads(text)
    assert (status, role) == (200, "model")
    assert (call.messages, call.tools, call.params) == (
        HELLO["messages"],
        [{"type": "function"}],
        {"temperature": 0, "top_k": 3},
    )
    (choice,) = answer["choices"]
    assert choice["message"]["content"] == "hi"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"x": 1}'}
    assert choice["finish_reason"] == "tool_calls"
    assert (answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]) == (7, 3)


async def test_a_client_that_wants_events_gets_the_same_reply() -> None:
    async with Clients() as clients:
        _, text = await clients.post(f"/c/{clients.token}/v1/chat/completions", HELLO | {"stream": True})
    events = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    first, last, usage = map(json.loads, events[:-1])
    assert first["choices"][0]["delta"]["content"] == "hi"
    assert first["choices"][0]["delta"]["tool_calls"][0]["index"] == 0
    assert last["choices"][0]["finish_reason"] == "tool_calls"
    assert usage["usage"]["total_tokens"] == 10


async def test_a_call_is_of_the_rollout_in_its_path_or_header_and_of_the_role_in_its_path() -> None:
    async with Clients() as clients:
        await clients.post(f"/c/{clients.token}/r/judge/v1/chat/completions", HELLO)
        await clients.post("/r/user/v1/chat/completions", HELLO, **{ROLLOUT: clients.token})
        assert [role for role, _ in clients.heard] == ["judge", "user"]


async def test_a_call_without_a_token_is_refused() -> None:
    async with Clients() as clients:
        status, text = await clients.post("/v1/chat/completions", HELLO)
    assert (status, "no token" in text, clients.heard) == (403, True, [])


async def test_tokens_are_counted_for_a_rollout_only() -> None:
    async with Clients() as clients:
        counted = await clients.post(f"/c/{clients.token}/v1/messages/count_tokens", HELLO)
        status, text = await clients.post("/v1/messages/count_tokens", HELLO)
    assert counted == (200, json.dumps({"input_tokens": len(json.dumps(HELLO)) // 4}))
    assert (status, "no token" in json.loads(text)["error"]["message"]) == (403, True)


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages", "messages/count_tokens"])
async def test_a_body_that_is_too_large_is_refused_in_the_form_of_its_api(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.llm.gateway.server._MOST_BYTES", 1 << 20)
    async with Clients() as clients:
        packed = zlib.compress(bytes(4 << 20))
        url = f"{clients.gateway.url}/c/{clients.token}/v1/{path}"
        async with clients.http.post(url, data=packed, headers={"Content-Encoding": "deflate"}) as refused:
            words = (await refused.json())["error"]["message"]
    assert (refused.status, "exceeds 1 MiB" in words, clients.heard) == (413, True, [])


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_path_that_is_not_served_is_named_beside_those_that_are(method: str) -> None:
    async with Clients() as clients:
        url = f"{clients.gateway.url}/c/{clients.token}/v1/models"
        async with clients.http.request(method, url) as refused:
            words = (await refused.json())["error"]["message"]
    assert refused.status == 404
    assert f"/v1/embeddings, not {method} of /c/" in words


@pytest.mark.parametrize("path", ["/c/0123/v1/chat/completions", "/c/{}/v1/chat/completions"])
async def test_a_call_of_a_rollout_that_has_ended_is_held_and_never_answered(path: str) -> None:
    async with Clients() as clients:
        clients.gateway.dismiss(clients.token)
        asking = asyncio.ensure_future(clients.post(path.format(clients.token), HELLO))
        done, _ = await asyncio.wait([asking], timeout=0.05)
        assert not done
        assert not clients.heard
        asking.cancel()


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
@pytest.mark.parametrize(
    "body",
    [b"[]", b'"x"', b"{}", b"{", b"[" * 100_000, b'{"messages": [null], "input": [null]}',
     b'{"messages": [{"role": 3, "content": "x"}], "input": [{"role": 3, "content": "x"}]}',
     b'{"messages": [{"role": "user", "content": "x"}], "input": "x", "n": 2}',
     b'{"messages": [{"role": "user", "content": "x"}], "input": "x", "tools": [3]}',
     b'{"messages": [{"role": "user", "content": "x"}], "input": "x", "temperature": NaN}',
     b'{"messages": [{"role": "user", "content": "x"}], "input": "x", "top_p": 1e999}',
     b'{"messages": [{"role": "user", "content": "x"}], "input": "x", "max_tokens": "a", "max_output_tokens": "a"}',
     b'{"messages": [{"role": "user", "content": "x"}], "input": "x", "max_tokens": -9, "max_output_tokens": -9}'],
)  # fmt: skip
async def test_what_is_no_call_is_refused_before_a_model_is_paid(path: str, body: bytes) -> None:
    async with Clients() as clients:
        url = f"{clients.gateway.url}/c/{clients.token}/v1/{path}"
        async with clients.http.post(url, data=body) as refused:
            words = (await refused.json())["error"]["message"]
        async with clients.http.post(url, data=b"not gzip", headers={"Content-Encoding": "gzip"}) as garbled:
            pass
    assert (refused.status, garbled.status, clients.heard) == (400, 400, [])
    assert words.startswith("eval-console cannot pass this call on: ")


@pytest.mark.parametrize(
    "content",
    [3, True, {"type": "text", "text": "x"}, [None], ["x"], [{}], [{"type": ["text"]}], [{"type": "text"}],
     [{"type": "text", "text": 5}]],
)  # fmt: skip
async def test_content_of_no_form_is_refused(content: object) -> None:
    async with Clients() as clients:
        body = {"messages": [{"role": "user", "content": content}]}
        status, text = await clients.post(f"/c/{clients.token}/v1/chat/completions", body)
    assert (status, clients.heard) == (400, [])
    assert "content" in json.loads(text)["error"]["message"]


_REFERENCE = f"sha256:{'a' * 64};image/png;5"
_SOUND = {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}}
BAD_MEDIA: dict[str, dict[str, Any]] = {
    "a url of no base64": {"type": "image_url", "image_url": {"url": "data:image/png;base64,@@@"}},
    "padding that lacks": {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ"}},
    "letters beyond ASCII": {"type": "image_url", "image_url": {"url": "data:image/png;base64,\u00e9"}},
    "sound of no base64": {"type": "input_audio", "input_audio": {"data": "!!", "format": "wav"}},
    "a file of no base64": {"type": "file", "file": {"filename": "f", "file_data": "data:a/b;base64,!"}},
    "a picture of ours": {"type": "image_url", "image_url": {"url": _REFERENCE}},
    "a sound of ours": {"type": "input_audio", "input_audio": {"data": _REFERENCE, "format": "wav"}},
    "a file of ours": {"type": "file", "file": {"file_data": _REFERENCE + ";7x9"}},
    "an odd format": {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "a;b"}},
    "a format of two lines": {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "a\nb"}},
    "a format without end": {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "a" * 300}},
}


@pytest.mark.parametrize("name", BAD_MEDIA)
@pytest.mark.parametrize("role", ["user", "tool", "system"])
async def test_bad_media_are_refused_before_a_model_is_paid(name: str, role: str) -> None:
    content = [{"type": "text", "text": "look"}, _SOUND, BAD_MEDIA[name]]
    async with Clients() as clients:
        body = {"messages": [{"role": role, "content": content, "tool_call_id": "c1"}]}
        status, text = await clients.post(f"/c/{clients.token}/v1/chat/completions", body)
    assert (status, clients.heard) == (400, [])
    assert json.loads(text)["error"]["message"].startswith("eval-console cannot pass this call on: ")


@pytest.mark.parametrize("data", ["@@@", "QQ", "\u00e9", _REFERENCE])
async def test_bad_media_of_other_apis_are_refused(data: str) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    blocks = {"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]}
    url = data if data == _REFERENCE else f"data:image/png;base64,{data}"
    items = {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]}
    async with Clients() as clients:
        refused = [
            await clients.post(f"/c/{clients.token}/v1/messages", blocks),
            await clients.post(f"/c/{clients.token}/v1/responses", items),
        ]
    assert ([status for status, _ in refused], clients.heard) == ([400, 400], [])


@pytest.mark.parametrize("role", ["nobody", "Model", "judge%20", "a" * 2000, "embedding"])
@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
async def test_a_role_without_a_model_is_refused(role: str, path: str) -> None:
    async with Clients() as clients:
        body = HELLO | {"input": "hello"}
        status, text = await clients.post(f"/c/{clients.token}/r/{role}/v1/{path}", body)
    assert (status, clients.heard) == (400, [])
    assert "role" in json.loads(text)["error"]["message"]


async def test_embeddings_that_the_run_lacks_are_refused() -> None:
    async with Clients() as clients:
        token = clients.gateway.admit(Answers(clients.answer, clients.embed, ("model",)))
        refused = [
            await clients.post(f"/c/{token}/v1/embeddings", {"input": "hello"}),
            await clients.post(f"/c/{clients.token}/r/model/v1/embeddings", {"input": "hello"}),
        ]
        assert not hasattr(clients, "embedded")
    assert [status for status, _ in refused] == [400, 400]
    assert "no model for the role 'embedding', only model" in refused[0][1]


async def test_a_client_cannot_forge_what_a_model_gets_back_as_its_own() -> None:
    forged = HELLO | {"messages": [{"role": "assistant", "content": "x", "native": {"api": "anthropic"}}]}
    async with Clients() as clients:
        status, text = await clients.post(f"/c/{clients.token}/v1/chat/completions", forged)
    assert (status, "`native`" in text, clients.heard) == (400, True, [])


@pytest.mark.parametrize(
    ("field", "value"),
    [("n", 2), ("logprobs", True), ("messages", "hello"), ("tools", {}), ("functions", [{"name": "f"}])],
)
async def test_what_cannot_be_passed_on_is_refused_by_name(field: str, value: object) -> None:
    async with Clients() as clients:
        status, text = await clients.post(f"/c/{clients.token}/v1/chat/completions", HELLO | {field: value})
    assert status == 400
    assert f"`{field}`" in json.loads(text)["error"]["message"]
    assert not clients.heard


async def test_a_conversation_that_is_too_long_is_told_in_the_words_that_clients_know() -> None:
    async with Clients() as clients:
        clients.fault = Fault(FaultKind.CONTEXT, "the context is full")
        status, text = await clients.post(f"/c/{clients.token}/v1/chat/completions", HELLO)
    assert (status, json.loads(text)["error"]["code"]) == (400, "context_length_exceeded")


@pytest.mark.parametrize(("asked", "texts"), [("hello", ["hello"]), (["a", "bcd"], ["a", "bcd"])])
async def test_texts_are_embedded_as_numbers_or_packed(asked: object, texts: list[str]) -> None:
    async with Clients() as clients:
        path = f"/c/{clients.token}/v1/embeddings"
        _, plain = await clients.post(path, {"model": "e", "input": asked})
        _, packed = await clients.post(path, {"model": "e", "input": asked, "encoding_format": "base64"})
        assert clients.embedded == ("embedding", texts)
    vectors = [[0.5, float(len(text))] for text in texts]
    assert [item["embedding"] for item in json.loads(plain)["data"]] == vectors
    unpacked = [struct.unpack("<2f", base64.b64decode(item["embedding"])) for item in json.loads(packed)["data"]]
    assert [list(vector) for vector in unpacked] == vectors


@pytest.mark.parametrize(
    ("body", "word"),
    [({"input": [1, 2]}, "input"), ({"input": []}, "input"), ({"input": "x", "dimensions": 3}, "dimensions")],
)
async def test_what_cannot_be_embedded_is_refused_by_name(body: dict[str, Any], word: str) -> None:
    async with Clients() as clients:
        status, text = await clients.post(f"/c/{clients.token}/v1/embeddings", body)
    assert (status, f"`{word}`" in json.loads(text)["error"]["message"]) == (400, True)
