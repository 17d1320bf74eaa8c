"""Arguments that a gateway sends more than once are read once or broken; a model's own mistakes are kept."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from server.api_server import ApiServer, Said, anthropic_events, responses_events

from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.core.record import REPEATED
from console.llm.endpoint import Endpoint

Json = dict[str, Any]
WHOLE = '{"a": 1, "b": 2}'
OTHER = '{"a":3,"b":4}'
CALL = Said("", [("add", json.loads(WHOLE))])


def piece(arguments: str | Json, identity: str = "", name: str = "", index: int | None = 0) -> Json:
    head: Json = {"id": identity, "type": "function"} if identity else {}
    place = {} if index is None else {"index": index}
    return {**place, **head, "function": {"arguments": arguments} | ({"name": name} if name else {})}


def deltas(*pieces: Json, reason: str = "tool_calls") -> list[Json]:
    chunks: list[Json] = [{"choices": [{"index": 0, "delta": {"tool_calls": [each]}}]} for each in pieces]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]


def pieces(*texts: str) -> list[Json]:
    """Return a call's head, and its arguments in these pieces."""
    return [piece("", "c1", "add"), *map(piece, texts)]


def in_one_read(chunks: list[Json]) -> list[bytes]:
    """Return the chunks with the fields that OpenAI sends, to be sent as one piece of the body."""
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return [b"\n\ndata: ".join(json.dumps(head | chunk).encode() for chunk in chunks)]


@pytest.fixture
def asked(connect: Callable[..., Endpoint], seen: Any) -> Iterator[Callable[..., Any]]:
    """Ask one question to a server of an API that sends these events."""
    running: list[ApiServer] = []

    async def ask(events: list[Any], api: str = "openai", **settings: Any) -> Reply:
        running.append(ApiServer([Said(events=events)]).__enter__())
        endpoint = connect(provider=api, base_url=running[-1].base_url, **settings)
        return await endpoint.ask(ChatRequest([{"role": "user", "content": "Add."}]), seen)

    yield ask
    for server in running:
        server.__exit__(None)


@pytest.mark.parametrize(
    "events",
    [
        pieces('{"a": 1, ', '"b": 2}', WHOLE),
        pieces(WHOLE, '{"a":1,"b":2}'),
        pieces(WHOLE, '{"a": 1,', ' "b": 2}'),
        pieces(WHOLE, "\n", WHOLE, WHOLE),
        pieces(WHOLE, " " * 200, WHOLE),
        [piece(WHOLE, "c1", "add"), piece(WHOLE, "c1", "add")],
        [piece(WHOLE, "c1", "add", None), piece(WHOLE, "c1", "add", None)],
        [piece(json.loads(WHOLE), "c1", "add"), piece(json.loads(WHOLE), "c1", "add")],
        pieces("{}", "{}"),
    ],
    ids=str,
)
async def test_a_whole_repetition_is_read_once_and_recorded(asked: Callable[..., Any], events: list[Json]) -> None:
    reply = await asked(deltas(*events))
    assert [json.loads(call.arguments) in (json.loads(WHOLE), {}) for call in reply.tool_calls] == [True]
    assert reply.flags == (REPEATED,)


@pytest.mark.parametrize(
    "events",
    [
        pieces("{}", WHOLE),
        pieces("{}", '{"a": 1,', '"b": 2}'),
        pieces("{}", '{"a"', '{"a": 1', WHOLE),
        pieces('{"a"', '{"a": 1', WHOLE),
        pieces('{"a": 1', WHOLE),
        pieces('{"a": 1,', ' "b"', WHOLE),
        pieces('{"a": 1,', ' "b"', '{"a":1,"b":2}'),
        pieces(WHOLE, OTHER),
        pieces(WHOLE, '{"a": 1'),
        [piece(WHOLE, "c1", "add"), piece(OTHER, "c1", "add")],
        [piece(WHOLE, "", "add"), piece(OTHER, "", "add")],
        [piece(WHOLE, "c1", "add", None), piece(OTHER, "c1", "add", None)],
        [piece(WHOLE, "c1", "add"), piece(WHOLE, "c1", "subtract")],
        [piece("", "c1", "add"), piece("", "c1", "subtract")],
        pieces('{"a": 1,', OTHER, ' "b": 2}'),
        [piece("", "c1", "ad"), piece("", "", "add"), piece(WHOLE)],
        pieces("{", '{"a"', '{"a": 1, "b"', WHOLE),
        pieces("{", WHOLE),
        pieces('{"a"', '{"a": tru', '{"a": tru, "b"'),
        pieces("{", "{", '"a"', '"a"', ": 1", ": 1", "}", "}"),
        pieces('{"a": 1,', ' "b": 2}', ' "b": 2}'),
        pieces("null", WHOLE),
        pieces('""', WHOLE),
        pieces(WHOLE, "null"),
        pieces(WHOLE, json.dumps(WHOLE)),
        pieces(json.dumps(WHOLE), WHOLE),
        [piece('{"a": 1,', "c1", "add"), piece(' "b": 2}', "c1", "add", 1)],
        [piece('{"a": 1,', "", "add"), piece(' "b": 2}', "", "add", 1)],
    ],
    ids=str,
)
@pytest.mark.parametrize("at_once", [False, True])
async def test_anything_else_that_is_sent_again_is_broken(
    asked: Callable[..., Any], events: list[Json], at_once: bool
) -> None:
    """It makes no difference whether the chunks arrive one by one or in one read of the connection."""
    chunks: list[Any] = deltas(*events)
    with pytest.raises(Fault) as caught:
        await asked(in_one_read(chunks) if at_once else chunks)
    assert caught.value.kind is FaultKind.BAD_ANSWER


@pytest.mark.parametrize(
    "texts",
    [
        ('{"a": 1, ', '"b": '),
        ('{"a": 1,}',),
        ("{'a': 1}",),
        ("add(a=1)",),
        ("{", "{", '"a": 1}', "}"),
        (WHOLE, "}"),
        (WHOLE, "<|im_end|>"),
        ('{"code": "if (x) {} {}", ', '"more": "}{"}'),
        ('"', r"{\"a\": 1}{\"a\": 1}", '"'),
        ('{"a": ', '{"b": {}}', "}"),
        ('{"a": [', "{}, {}", "]}"),
        ('{"a": [', '{"a": "x"},', '{"a": "y"},', "]}"),
        ('{"a": ', '{"a": True}', "}"),
        ("{'a': ", "{'a': 1}", "}"),
        ('{"a": [1, ', "2, ", "2, ", "2]}"),
        ('{"a": 1', "}", "}"),
        ('{"a": "', '"', "nu", "l", "l", '"}'),
        (WHOLE, '""', "}"),
        ('"a"', '"a"'),
        (WHOLE,),
        ("",),
    ],
    ids=str,
)
async def test_what_the_model_wrote_is_kept(asked: Callable[..., Any], texts: tuple[str, ...]) -> None:
    reply = await asked(deltas(*pieces(*texts)))
    assert [call.arguments for call in reply.tool_calls] == ["".join(texts)]
    assert not reply.flags


async def test_a_call_cut_by_the_limit_is_kept(asked: Callable[..., Any]) -> None:
    reply = await asked(deltas(*pieces(WHOLE, '{"a": 1'), reason="length"))
    assert (reply.finish, reply.tool_calls[0].arguments) == ("length", WHOLE + '{"a": 1')


async def test_a_whole_body_is_read_in_the_same_way(asked: Callable[..., Any]) -> None:
    def body(arguments: str) -> list[Json]:
        message = {"role": "assistant", "content": None, "tool_calls": [piece(arguments, "c1", "add")]}
        return [{"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}]

    reply = await asked(body(WHOLE + WHOLE))
    assert (reply.tool_calls[0].arguments, reply.flags) == (WHOLE, (REPEATED,))
    with pytest.raises(Fault):
        await asked(body(WHOLE + OTHER))


async def test_a_whole_message_with_other_calls_breaks(asked: Callable[..., Any]) -> None:
    """The last chunk has an empty delta and the whole message, which agree in their content: none."""
    chunks = deltas(*pieces(WHOLE))
    chunks[-1]["choices"][0]["message"] = {"content": None, "tool_calls": [piece(WHOLE, "c1", "add")]}
    assert [call.arguments for call in (await asked(chunks)).tool_calls] == [WHOLE]
    chunks[-1]["choices"][0]["message"]["tool_calls"] = [piece(OTHER, "c1", "add")]
    with pytest.raises(Fault) as caught:
        await asked(chunks)
    assert "not what was streamed" in caught.value.message


async def test_two_calls_with_ids_of_their_own_stay_two(asked: Callable[..., Any]) -> None:
    reply = await asked(deltas(piece(WHOLE, "c1", "add"), piece(WHOLE, "c2", "add")))
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [("c1", WHOLE), ("c2", WHOLE)]
    assert not reply.flags


def again(events: list[Json], kind: str, field: str) -> list[Json]:
    """Repeat the last delta of a call as the whole arguments."""
    last = max(number for number, event in enumerate(events) if kind in json.dumps(event))
    whole = json.loads(json.dumps(events[last]))
    (whole if field == "delta" else whole["delta"])[field] = WHOLE
    return [*events[: last + 1], whole, *events[last + 1 :]]


@pytest.mark.parametrize(
    ("api", "events"),
    [
        ("responses", again(responses_events(CALL), "function_call_arguments.delta", "delta")),
        ("anthropic", again(anthropic_events(CALL), "input_json_delta", "partial_json")),
    ],
)
async def test_other_apis_break(asked: Callable[..., Any], api: str, events: list[Json]) -> None:
    with pytest.raises(Fault) as caught:
        await asked(events, api)
    assert caught.value.kind is FaultKind.BAD_ANSWER


async def test_arguments_that_responses_itself_repeats_break(asked: Callable[..., Any]) -> None:
    events = responses_events(Said("", [("add", {})]))
    events[-1]["response"]["output"][0]["arguments"] = WHOLE + WHOLE
    events = [event for event in events if "delta" not in event["type"]]
    with pytest.raises(Fault) as caught:
        await asked(events, "responses")
    assert "sent twice" in caught.value.message


async def test_a_first_empty_input_of_anthropic_is_no_repetition(asked: Callable[..., Any]) -> None:
    reply = await asked(anthropic_events(CALL), "anthropic")
    assert (json.loads(reply.tool_calls[0].arguments), reply.flags) == (json.loads(WHOLE), ())


def of_responses(*calls: list[str]) -> list[Json]:
    """Return the events of a response whose calls have these pieces as arguments, and the same joined at the end."""
    events: list[Json] = []
    for number, texts in enumerate(calls):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"c{number}", "name": "add"}
        events.append({"type": "response.output_item.added", "item": item | {"arguments": ""}})
        kind = "response.function_call_arguments.delta"
        events += [{"type": kind, "item_id": item["id"], "delta": text} for text in texts]
    output = [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"c{number}",
            "name": "add",
            "arguments": "".join(it),
        }
        for number, it in enumerate(calls)
    ]
    response = {"object": "response", "id": "r", "status": "completed", "output": output}
    return [*events, {"type": "response.completed", "response": response}]


@pytest.mark.parametrize(
    "calls",
    [[['{"a"', '{"a": 1, "b"', WHOLE]], [['{"a": 1,'], [' "b": 2}']], [["{", "{", '"a', '"a', '": 1}', '": 1}']]],
)
async def test_a_gateway_to_responses_that_joined_damaged_pieces_breaks(
    asked: Callable[..., Any], calls: list[list[str]]
) -> None:
    with pytest.raises(Fault) as caught:
        await asked(of_responses(*calls), "responses")
    assert caught.value.kind is FaultKind.BAD_ANSWER


async def test_responses_may_interleave_two_calls(asked: Callable[..., Any]) -> None:
    events = of_responses(['{"a": 1,', ' "b": 2}'], ['{"a":3,', '"b":4}'])
    events[2], events[4] = events[4], events[2]
    reply = await asked(events, "responses")
    assert [call.arguments for call in reply.tool_calls] == [WHOLE, OTHER]
