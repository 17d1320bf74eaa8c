"""Log probabilities: asked for in each API's way, read whole or streamed, journaled as arrays, and refused by name."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from server.api_server import ApiServer, Said
from server.openai_server import OpenAIServer, Scripted

from console.core.chat import ChatRequest, Reply, ScriptedAnswers, TokenLogprob, Utterance
from console.core.fault import Fault, FaultKind
from console.llm.endpoint import Endpoint
from console.llm.providers import open_endpoint

Connect = Callable[..., Endpoint]
WANTED = {"logprobs": True, "top_logprobs": 2}
READ = (
    TokenLogprob("B", -0.25, (("B", -0.25), ("A", -1.5))),
    TokenLogprob(" \n", -9999.0, (("!", 0.0),)),
)


def asked(role: str = "user", **params: Any) -> ChatRequest:
    return ChatRequest([{"role": role, "content": "A or B?"}], params=params)


def said(request: dict[str, Any]) -> Scripted:
    return Scripted("B \n", logprobs=[("B", -0.25, {"B": -0.25, "A": -1.5}), (" \n", -99999.0, {"!": 1e-9})])


@pytest.fixture
def giving() -> Iterator[OpenAIServer]:
    with OpenAIServer(said) as server:
        yield server


@pytest.mark.parametrize("streamed", [True, False])
async def test_chat_gives_tokens_with_alternatives(giving: OpenAIServer, connect: Connect, seen: Any, streamed: bool):
    endpoint = connect(base_url=giving.base_url, params={} if streamed else {"stream": False})
    reply = await endpoint.ask(asked(**WANTED), seen)
    assert (reply.content, reply.logprobs, reply.flags) == ("B \n", READ, ())
    assert giving.requests[0]["logprobs"] is True
    assert giving.requests[0]["top_logprobs"] == 2


async def test_tokens_are_journaled_as_arrays_and_read_back(giving: OpenAIServer, connect: Connect, seen: Any):
    reply = await connect(base_url=giving.base_url).ask(asked(**WANTED), seen)
    line = msgspec.json.encode(reply)
    assert json.loads(line)["logprobs"][0] == ["B", -0.25, [["B", -0.25], ["A", -1.5]]]
    assert msgspec.json.decode(line, type=Reply) == reply


async def test_tokens_that_nobody_asked_for_are_dropped(giving: OpenAIServer, connect: Connect, seen: Any):
    assert not (await connect(base_url=giving.base_url).ask(asked(), seen)).logprobs


async def test_tokens_of_a_secret_are_dropped(connect: Connect, seen: Any, key: str):
    pieces = [(key[at : at + 8], -0.5, {}) for at in range(0, len(key), 8)]
    with OpenAIServer(lambda request: Scripted(key, logprobs=pieces)) as server:
        reply = await connect(base_url=server.base_url).ask(asked(**WANTED), seen)
    assert "logprobs with a secret were removed" in reply.flags
    assert key[4:12] not in msgspec.json.encode(reply).decode()


@pytest.mark.parametrize(
    "odd",
    [[{"token": "B"}, 7], {"content": [{"token": "B", "logprob": "high"}]}, {"content": [{"logprob": -1.0}]}, "B",
     {"tokens": ["B"], "token_logprobs": []}, {"tokens": ["B"], "token_logprobs": [True]}],
)  # fmt: skip
async def test_unreadable_tokens_are_dropped_and_the_answer_kept(odd: object, connect: Connect, seen: Any):
    choice = {"index": 0, "delta": {"content": "B"}, "finish_reason": "stop", "logprobs": odd}
    with ApiServer([Said(events=[{"model": "m-1", "choices": [choice]}])]) as server:
        reply = await connect(base_url=server.base_url).ask(asked(**WANTED), seen)
        unasked = await connect(base_url=server.base_url).ask(asked(), seen)
    assert (reply.content, reply.logprobs, reply.flags) == ("B", (), ("unreadable logprobs",))
    assert unasked.flags == ()


async def test_responses_include_them_and_get_their_text_back_without(connect: Connect, seen: Any):
    tokens = [
        {"token": token, "logprob": number, "top_logprobs": [{"token": t, "logprob": n} for t, n in top.items()]}
        for token, number, top in said({}).logprobs
    ]
    part = {"type": "output_text", "text": "B \n", "logprobs": tokens}
    item = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": [part]}
    response = {"object": "response", "model": "m-1", "status": "completed", "output": [item]}
    with ApiServer([Said(events=[{"type": "response.completed", "response": response}])]) as server:
        endpoint = connect(base_url=server.base_url, provider="responses", params={"include": ["reasoning.x"]})
        reply = await endpoint.ask(asked(**WANTED), seen)
    assert (reply.content, reply.logprobs) == ("B \n", READ)
    assert server.requests[0]["include"] == ["reasoning.x", "message.output_text.logprobs"]
    assert (server.requests[0]["top_logprobs"], server.requests[0].get("logprobs")) == (2, None)
    assert "logprobs" not in json.dumps(reply.message())


async def test_gemini_gives_them_by_candidate(connect: Connect, seen: Any):
    events = [
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": token}]},
                    "logprobsResult": {
                        "chosenCandidates": [{"token": token, "logProbability": number}],
                        "topCandidates": [{"candidates": [{"token": t, "logProbability": n} for t, n in top.items()]}],
                    },
                }
            ]
        }
        for token, number, top in said({}).logprobs
    ]
    end = {"candidates": [{"finishReason": "STOP"}]}
    with ApiServer([Said(events=[*events, end])]) as server:
        reply = await connect(base_url=server.base_url, provider="gemini").ask(asked(**WANTED), seen)
    assert (reply.content, reply.logprobs) == ("B \n", READ)
    assert server.requests[0]["generationConfig"] == {"responseLogprobs": True, "logprobs": 2}


async def test_text_completions_give_them_as_lists(connect: Connect, seen: Any):
    lists = {
        "tokens": ["B", " \n"],
        "token_logprobs": [-0.25, None],
        "top_logprobs": [{"B": -0.25, "A": -1.5}, {"!": 0.0}],
    }
    choice = {"index": 0, "text": "B \n", "finish_reason": "stop", "logprobs": lists}
    with ApiServer([Said(events=[{"model": "m-1", "choices": [choice]}])]) as server:
        reply = await connect(base_url=server.base_url, provider="completions").ask(asked("prompt", **WANTED), seen)
    assert (reply.content, reply.logprobs) == ("B \n", READ)
    assert server.requests[0]["logprobs"] == 2
    assert "top_logprobs" not in server.requests[0]


@pytest.mark.parametrize("provider", ["anthropic", "bedrock", "cohere", "ollama", "writer"])
async def test_apis_without_them_refuse_by_name_before_anything_is_sent(provider: str, connect: Connect, seen: Any):
    with ApiServer([Said("B")]) as server:
        endpoint = connect(base_url=server.base_url, provider=provider)
        with pytest.raises(Fault, match=f"provider {provider} gives no logprobs") as raised:
            await endpoint.ask(asked(**WANTED), seen)
    assert raised.value.kind is FaultKind.BAD_REQUEST
    assert server.requests == []


async def test_simulated_models_make_them_up_from_the_scripted_answers(seen: Any):
    from console.config.model import ModelConfig

    answers = ScriptedAnswers(Utterance("B"), (Utterance("A"), Utterance("C")))
    model = ModelConfig(name="sim", provider="simulated", model_id="perfect", params={"pace": "flat"})
    request = ChatRequest([{"role": "user", "content": "A, B or C?"}], params=WANTED, scripted=lambda: answers)
    endpoint = open_endpoint(model)
    (token,) = (await endpoint.ask(request, seen)).logprobs
    assert token.token == "B"
    assert (token.token, token.logprob) in token.top
    assert {other for other, _ in token.top} <= {"A", "B", "C"}
    assert len(token.top) == 2
    assert not (await endpoint.ask(msgspec.structs.replace(request, params={}), seen)).logprobs
