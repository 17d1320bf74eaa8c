"""In tool loops an answer goes back with the fields with which it came: thoughts, their details, and signatures."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from server.api_server import ApiServer, Said

from console.core.chat import ChatRequest, Message, Reply
from console.core.fault import Fault
from console.llm.endpoint import Endpoint

Json = dict[str, Any]
USER: Message = {"role": "user", "content": "Berth for 14 metres?"}
RESULT: Message = {"role": "tool", "tool_call_id": "a1", "content": "C7"}
CALL = {"index": 0, "id": "a1", "type": "function", "function": {"name": "find", "arguments": '{"metres": 14}'}}
DETAIL = {"type": "reasoning.text", "format": "unknown", "index": 0}


def chunks(*deltas: Json, reason: str = "tool_calls") -> list[Json]:
    ended: list[Json] = [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]
    return [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas] + ended


def called(**more: Any) -> Json:
    return {"tool_calls": [CALL | more]}


def thinking(text: str) -> Json:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


@pytest.fixture
def loop(connect: Callable[..., Endpoint], seen: Any) -> Iterator[Callable[..., Any]]:
    """Ask, send the answer back with the result of its call, and return the reply and the answer as it was sent."""
    running: list[ApiServer] = []

    async def ask(events: list[Json], api: str = "openai", after: tuple[Message, ...] = (RESULT,), **more: Any) -> Any:
        running.append(ApiServer([Said(events=events), Said("C7.")]).__enter__())
        endpoint = connect(provider=api, base_url=running[-1].base_url.removesuffix("/v1" * (api == "ollama")), **more)
        reply: Reply = await endpoint.ask(ChatRequest([USER]), seen)
        await endpoint.ask(ChatRequest([USER, reply.message(), *after]), seen)
        return reply, running[-1].requests[-1]["messages"][1]

    yield ask
    for server in running:
        server.__exit__(None)


FIELDS: dict[str, tuple[list[Json], Json]] = {
    "deepseek": (
        chunks({"reasoning_content": "Hm"}, {"reasoning_content": ", C."}, called()),
        {"reasoning_content": "Hm, C."},
    ),
    "vllm": (chunks({"reasoning": "Hm"}, {"reasoning": ", C."}, called()), {"reasoning": "Hm, C."}),
    "openrouter": (
        chunks(
            {"reasoning": "Hm", "reasoning_details": [{**DETAIL, "text": "Hm"}]},
            {"reasoning": ".", "reasoning_details": [{**DETAIL, "text": "."}]},
            {"reasoning_details": [{**DETAIL, "signature": "signed=="}]},
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "sealed==", "index": 1}]},
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "other==", "index": 2}]},
            called(),
        ),
        {
            "reasoning": "Hm.",
            "reasoning_details": [
                {**DETAIL, "text": "Hm.", "signature": "signed=="},
                {"type": "reasoning.encrypted", "data": "sealed==", "index": 1},
                {"type": "reasoning.encrypted", "data": "other==", "index": 2},
            ],
        },
    ),
    "anthropic behind litellm": (
        chunks(
            {"thinking_blocks": [{"type": "thinking", "thinking": "Hm", "signature": ""}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": ".", "signature": ""}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "one=="}]},
            {"thinking_blocks": [{"type": "thinking", "thinking": "Again", "signature": "two=="}]},
            called(),
        ),
        {
            "thinking_blocks": [
                {"type": "thinking", "thinking": "Hm.", "signature": "one=="},
                {"type": "thinking", "thinking": "Again", "signature": "two=="},
            ]
        },
    ),
    "mistral": (
        chunks({"content": [thinking("Hm")]}, {"content": [thinking(".")]}, {"content": "Look"}, {"content": "ing"},
               called()),
        {"content": [thinking("Hm."), {"type": "text", "text": "Looking"}]},
    ),
    "sealed values sent again": (
        chunks(
            {"reasoning_details": [{**DETAIL, "text": "Hm"}], "signature": "S=="},
            {"reasoning_details": [{**DETAIL, "signature": "one=="}], "signature": "S=="},
            {"reasoning_details": [{**DETAIL, "text": "Hm", "signature": "one=="}]},
            called(),
        ),
        {"reasoning_details": [{**DETAIL, "text": "Hm", "signature": "one=="}], "signature": "S=="},
    ),
    "a whole body": (
        [{"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": None, "reasoning_content": "Hm", "tool_calls": [CALL]}}]}],
        {"reasoning_content": "Hm"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
async def test_the_fields_of_an_answer_go_back(loop: Callable[..., Any], name: str) -> None:
    events, fields = FIELDS[name]
    reply, sent = await loop(events)
    plain = {"role": "assistant", "content": reply.content, "tool_calls": [reply.tool_calls[0].for_message()]}
    assert sent == plain | fields


@pytest.mark.parametrize(
    "more",
    [
        {"extra_content": {"google": {"thought_signature": "signed=="}}},
        {"function": CALL["function"] | {"provider_specific_fields": {"thought_signature": "signed=="}}},
    ],
    ids=["gemini", "litellm"],
)
async def test_the_signature_of_a_call_goes_back_with_it(loop: Callable[..., Any], more: Json) -> None:
    reply, sent = await loop(chunks(called(**more)))
    call = reply.tool_calls[0].for_message()
    wanted = {**call, **more, "function": {**call["function"], **more.get("function", {})}}
    assert sent["tool_calls"] == [wanted]


async def test_ollama_gets_its_thoughts_back(loop: Callable[..., Any]) -> None:
    messages: list[Json] = [{"content": "", "thinking": "Hm"}, {"content": "", "thinking": "."}]
    messages.append({"content": "", "tool_calls": [{"function": {"name": "find", "arguments": {"metres": 14}}}]})
    lines = [{"model": "m", "message": {"role": "assistant", **message}, "done": False} for message in messages]
    last = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    _, sent = await loop([*lines, last], "ollama")
    assert sent["thinking"] == "Hm."


async def test_outside_of_tool_loops_nothing_goes_back(loop: Callable[..., Any]) -> None:
    again: Message = {"role": "user", "content": "Sure?"}
    _, sent = await loop(chunks({"reasoning_content": "Hm"}, {"content": "C7"}, reason="stop"), after=(again,))
    assert sent == {"role": "assistant", "content": "C7"}


async def test_what_the_server_refuses_is_left_out(loop: Callable[..., Any]) -> None:
    events = chunks({"reasoning_content": "Hm", "reasoning": "Hm"}, called())
    _, sent = await loop(events, omit=("reasoning",))
    assert (sent.get("reasoning_content"), "reasoning" in sent) == ("Hm", False)


async def test_a_server_that_refuses_a_field_is_told_how_to_omit_it(
    connect: Callable[..., Endpoint], seen: Any
) -> None:
    refusal = {"error": {"message": "messages.1.reasoning_content: Extra inputs are not permitted"}}
    events = chunks({"reasoning_content": "Hm"}, called())
    with ApiServer([Said(events=events), Said(status="422 Unprocessable Entity", error=refusal)]) as server:
        endpoint = connect(base_url=server.base_url)
        reply = await endpoint.ask(ChatRequest([USER]), seen)
        with pytest.raises(Fault) as caught:
            await endpoint.ask(ChatRequest([USER, reply.message(), RESULT]), seen)
        assert len(server.requests) == 2
    assert 'Write omit = ["reasoning_content"]' in caught.value.hint


async def test_another_api_ignores_them(connect: Callable[..., Endpoint], seen: Any, loop: Callable[..., Any]) -> None:
    reply, _ = await loop(chunks({"reasoning_content": "Hm"}, called()))
    with ApiServer([Said("C7.")]) as server:
        endpoint = connect(provider="anthropic", base_url=server.base_url)
        await endpoint.ask(ChatRequest([USER, reply.message(), RESULT]), seen)
        (block,) = server.requests[0]["messages"][1]["content"]
    assert block["type"] == "tool_use"
