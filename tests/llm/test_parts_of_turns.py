"""Answers in several parts: commentary before the final answer (Responses), and paused turns (Anthropic)."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from server.api_server import ApiServer, Said, anthropic_events, responses_events

from console.benchmarks.bfcl.models.handlers.reply_readings import READINGS
from console.benchmarks.bfcl.models.handlers.services import SERVICES
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.llm.endpoint import Endpoint
from console.llm.paused_turns import MOST_PAUSES

Json = dict[str, Any]
QUESTION = ChatRequest([{"role": "user", "content": "Capital of Portugal?"}])


@pytest.fixture
def asked(connect: Callable[..., Endpoint], seen: Any) -> Iterator[Callable[..., Any]]:
    """Ask one question to a server of an API with this script; return the reply and the bodies of the requests."""
    running: list[ApiServer] = []

    async def ask(api: str, *script: Said, **settings: Any) -> tuple[Reply, list[Json]]:
        running.append(ApiServer(script).__enter__())
        endpoint = connect(provider=api, base_url=running[-1].base_url, **settings)
        return await endpoint.ask(QUESTION, seen), running[-1].requests

    yield ask
    for server in running:
        server.__exit__(None)


def phased(*parts: tuple[str, str], call: bool = False) -> Said:
    """Return the events of a response with these messages: phase and text."""
    events = responses_events(Said("", [("find", {})] if call else []))
    messages: list[Json] = []
    for number, (phase, text) in enumerate(parts):
        message: Json = {"type": "message", "id": f"m_{number}", "role": "assistant", "status": "completed"}
        message["content"] = [{"type": "output_text", "text": text, "annotations": []}]
        messages.append(message | ({"phase": phase} if phase else {}))
    events[-1]["response"]["output"] = [*messages, *events[-1]["response"]["output"]]
    return Said(events=[*({"type": "response.output_text.delta", "delta": text} for _, text in parts), *events])


@pytest.mark.parametrize(
    ("parts", "content", "thoughts"),
    [
        ((("commentary", "Portugal…"), ("final_answer", "Lisbon")), "Lisbon", "Portugal…\n"),
        ((("commentary", "Hm."), ("commentary", "Yes."), ("final_answer", "Lisbon")), "Lisbon", "Hm.\nYes.\n"),
        ((("", "Hm."), ("final_answer", "Lis"), ("final_answer", "bon")), "Lisbon", "Hm.\n"),
        ((("commentary", "Hm."), ("", "Lisbon")), "Lisbon", "Hm.\n"),
        ((("commentary", "Lisbon"),), "Lisbon", ""),
        ((("", "Lis"), ("", "bon")), "Lisbon", ""),
    ],
)
async def test_the_final_message_is_the_answer(
    asked: Callable[..., Any], parts: tuple[tuple[str, str], ...], content: str, thoughts: str
) -> None:
    reply, _ = await asked("responses", phased(*parts))
    assert (reply.content, reply.reasoning) == (content, thoughts)
    assert len(reply.native["content"]) == len(parts), "all items go back"
    official = READINGS["responses"].prompting(reply, next(iter(SERVICES.values())))
    assert official.output == "".join(text for _, text in parts), "as the official client joins them"


async def test_commentary_next_to_a_call(asked: Callable[..., Any]) -> None:
    reply, _ = await asked("responses", phased(("commentary", "I look it up."), call=True))
    assert (reply.content, [call.name for call in reply.tool_calls]) == ("I look it up.", ["find"])


async def test_a_streamed_final_answer_must_be_the_final_message(asked: Callable[..., Any]) -> None:
    said = phased(("commentary", "Hm."), ("final_answer", "Lisbon"))
    assert said.events is not None
    said.events[1]["delta"] = "Porto"
    with pytest.raises(Fault) as caught:
        await asked("responses", said)
    assert caught.value.kind is FaultKind.BAD_ANSWER


def paused(text: str) -> Said:
    """Return a turn that the provider's search pauses."""
    events = anthropic_events(Said(text, end="pause_turn"))
    index = sum(event["type"] == "content_block_start" for event in events)
    search = {"type": "server_tool_use", "id": f"srv_{text}", "name": "web_search", "input": {}}
    place = {"index": index}
    block = [
        {"type": "content_block_start", "content_block": search, **place},
        {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '{"q": 1}'}, **place},
        {"type": "content_block_stop", **place},
    ]
    return Said(events=[*events[:-2], *block, *events[-2:]])


async def test_a_paused_turn_goes_on(asked: Callable[..., Any]) -> None:
    last = Said("Lisbon.", [("find", {"metres": 14})])
    reply, requests = await asked("anthropic", paused("I search. "), paused("Again. "), last)
    assert (reply.content, reply.finish) == ("I search. Again. Lisbon.", "tool_calls")
    assert [call.name for call in reply.tool_calls] == ["find"]
    assert "continued after a pause" in reply.flags
    assert (reply.usage.input, reply.usage.output, reply.usage.cached) == (33, 21, 9), "three requests were charged"
    kinds = [[block["type"] for block in request["messages"][-1]["content"]] for request in requests[1:]]
    assert kinds == [["text", "server_tool_use"], ["text", "server_tool_use"] * 2]
    assert requests[1]["messages"][-1]["content"][1]["input"] == {"q": 1}
    assert [block["type"] for block in reply.native["content"]] == ["text", "server_tool_use"] * 2 + [
        "text",
        "tool_use",
    ]


async def test_the_parts_of_a_turn_that_fails_may_be_charged(asked: Callable[..., Any], seen: Any) -> None:
    error = {"type": "error", "error": {"type": "api_error", "message": "oops"}}
    failed = Said(status="500 Internal Server Error", error=error)
    with pytest.raises(Fault):
        await asked("anthropic", paused("I search. "), paused("Again. "), failed)
    assert seen.resent == 2


async def test_a_turn_that_only_pauses_is_no_answer(asked: Callable[..., Any]) -> None:
    with pytest.raises(Fault) as caught:
        await asked("anthropic", paused("…"))
    assert caught.value.kind is FaultKind.TRUNCATED
    assert f"{MOST_PAUSES} times" in caught.value.message
