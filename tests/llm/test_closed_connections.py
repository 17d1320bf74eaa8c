"""A server that closes a kept connection, as is its right, costs no try."""

import asyncio

import pytest
from server.api_server import ApiServer, Said
from server.batch_server import BatchServer
from server.http1 import Connection
from server.openai_server import OpenAIServer, Scripted

from console.config.model import ModelConfig, Price
from console.config.models import facts
from console.core.case import Key
from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind
from console.core.record import Asked
from console.core.run import ModelFacts
from console.core.spending import RoleSpending
from console.llm.batches import BatchClient


def at_price(usd: float) -> ModelFacts:
    return facts(ModelConfig(name="m", model_id="m", price=Price(usd, usd)))


@pytest.fixture(params=[False, True], ids=["closed", "reset"])
def closing(request, monkeypatch) -> None:
    """Let all test servers close each connection after one reply, unannounced."""
    monkeypatch.setattr(Connection, "most_requests", 1)
    monkeypatch.setattr(Connection, "resets", request.param)


@pytest.mark.usefixtures("closing")
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
async def test_a_request_on_a_closed_connection_is_sent_again(connect, question, seen, streamed):
    with OpenAIServer() as server:
        endpoint = connect(base_url=server.base_url, params={} if streamed else {"stream": False})
        replies = [await endpoint.ask(question(f"question {number}"), seen) for number in range(8)]
        assert [reply.tries for reply in replies] == [1] * 8
        sums = RoleSpending()
        for reply in replies:
            sums.add(Asked(0.0, Key("a", 0, 1), 1, "", reply))
        assert sums.is_partial(at_price(1.0)), "a request that was sent twice may have been charged twice"
        assert not sums.is_partial(at_price(0.0))
        assert server.counts["chat"] == 8
    assert seen.failed == []
    assert seen.resent > 0


@pytest.mark.usefixtures("closing")
async def test_many_at_once(connect, question, seen):
    with OpenAIServer() as server:
        endpoint = connect(base_url=server.base_url)
        for _ in range(3):
            await asyncio.gather(*(endpoint.ask(question(), seen) for _ in range(16)))
    assert seen.failed == []


@pytest.mark.usefixtures("closing")
async def test_embeddings(connect, seen):
    with OpenAIServer() as server:
        endpoint = connect(base_url=server.base_url)
        for _ in range(4):
            assert len(await endpoint.embed(["one", "two"], seen)) == 2
    assert seen.failed == []


@pytest.mark.usefixtures("closing")
@pytest.mark.parametrize("api", ["responses", "anthropic", "gemini", "ollama"])
async def test_other_apis(connect, question, seen, api):
    with ApiServer([Said("Warm.")] * 4) as server:
        endpoint = connect(provider=api, base_url=server.base_url)
        for _ in range(4):
            assert (await endpoint.ask(question(), seen)).content == "Warm."
    assert seen.failed == []
    assert len(server.requests) == 4


@pytest.mark.usefixtures("closing")
async def test_batches(key):
    server = BatchServer(lambda request: "yes")
    with server:
        client = BatchClient(ModelConfig(name="m", model_id="m", base_url=server.base_url, api_key_env="TEST_KEY"))
        try:
            for _ in range(4):
                assert await client.candidates("none", 0.0, 1) == []
            request = ChatRequest([{"role": "user", "content": "hello"}])
            lines = [client.line("a", client.body(request))]
            files = [await client.upload(lines) for _ in range(4)]
            for number, file in enumerate(files):
                await client.create(f"batch {number}", file, lines)
        finally:
            await client.aclose()
    assert len(server.batches) == 4


async def test_a_new_connection_that_closes_is_a_fault(connect, question, seen):
    with pytest.raises(Fault) as caught:
        await connect().ask(question("fault:cut_head"), seen)
    assert caught.value.kind is FaultKind.CONNECT
    assert seen.resent == 0


async def test_part_of_a_reply_is_not_asked_for_again(connect, question, seen):
    def answer(request):
        return Scripted("yes", fault="cut_status" if len(server.requests) > 1 else "")

    with OpenAIServer(answer) as server:
        endpoint = connect(base_url=server.base_url)
        await endpoint.ask(question(), seen)
        with pytest.raises(Fault) as caught:
            await endpoint.ask(question(), seen)
        assert len(server.requests) == 2
    assert caught.value.kind is FaultKind.CONNECT
    assert seen.resent == 0


@pytest.mark.usefixtures("closing")
async def test_the_new_connection_may_fail_too(connect, question, seen):
    """The request is sent again once, and not without end."""
    with OpenAIServer() as server:
        endpoint = connect(base_url=server.base_url)
        await endpoint.ask(question(), seen)
        with pytest.raises(Fault) as caught:
            await endpoint.ask(question("fault:cut_head"), seen)
        assert server.counts["cut_head"] == 1
    assert caught.value.kind is FaultKind.CONNECT
