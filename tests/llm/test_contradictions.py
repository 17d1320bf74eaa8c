"""What was streamed, what the end says and what is handed on agree, on every API; otherwise it is no answer.

Each case ends as a good answer ends. Chat completions have more of them in server/faults/contradictions.py.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from server.api_server import (
    ApiServer,
    Said,
    anthropic_events,
    chat_events,
    gemini_events,
    ollama_events,
    responses_events,
)
from server.faults import FAULTS
from server.faults.contradictions import CONTRADICTIONS, SIGNALS
from server.faults.registry import both

from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind
from console.llm.endpoint import Endpoint

Json = dict[str, Any]
MODES = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
TEXT = Said("Warm, and it will stay so.")
CALL = Said("", [("weather", {"city": "Bern"})])


@pytest.fixture
def asked(connect: Callable[..., Endpoint], seen: Any) -> Iterator[Callable[..., Any]]:
    """Ask one question to a server of an API that says this."""
    running: list[ApiServer] = []

    async def ask(api: str, said: Said, limits: dict[str, Any] | None = None, **settings: Any) -> Any:
        running.append(ApiServer([said]).__enter__())
        endpoint = connect(limits, provider=api, base_url=running[-1].base_url, **settings)
        return await endpoint.ask(ChatRequest([{"role": "user", "content": "How warm is it?"}]), seen)

    yield ask
    for server in running:
        server.__exit__(None)


@MODES
@pytest.mark.parametrize(
    "name",
    [
        *(*CONTRADICTIONS, "message_is_missing", "first_choice_twice", "s_two_reasons", "s_restated_otherwise"),
        *("s_other_text_beside_deltas", "s_chunks_of_two_answers"),
        *("s_other_reason_of_the_provider", "s_cut_that_the_gateway_hides"),
    ],
)
async def test_a_chat_answer_with_an_unreadable_part_is_none(connect, question, seen, streamed, name):
    with pytest.raises(Fault) as caught:
        await connect(params={} if streamed else {"stream": False}).ask(question(f"fault:{name}"), seen)
    assert caught.value.kind is FaultKind.BAD_ANSWER, caught.value
    assert "base_url" not in caught.value.hint, "the address is right"


@MODES
@pytest.mark.parametrize("name", SIGNALS)
async def test_an_error_beside_the_choices_is_an_error(connect, question, seen, streamed, name):
    with pytest.raises(Fault) as caught:
        await connect(params={} if streamed else {"stream": False}).ask(question(f"fault:{name}"), seen)
    assert caught.value.kind is FaultKind.SERVER
    assert "the engine died" in caught.value.message


def ended(**changes: Any) -> Callable[[list[Json]], list[Json]]:
    """Change fields of the response in the last event."""
    return lambda events: [*events[:-1], {**events[-1], "response": {**events[-1]["response"], **changes}}]


def without(kind: str) -> Callable[[list[Json]], list[Json]]:
    """Leave out the events of a type."""
    return lambda events: [event for event in events if event.get("type") != kind]


def unfinished(events: list[Json]) -> list[Json]:
    """Say of the call in a complete response that it is not complete."""
    [call] = events[-1]["response"]["output"]
    return ended(output=[{**call, "status": "incomplete"}])(events)


def by_the_user(events: list[Json]) -> Json:
    return {**events[-1]["response"]["output"][0], "role": "user"}


def done(part: str, **fields: Any) -> Json:
    return {"type": f"response.{part}.done", **fields}


CALL_ITEM = {"type": "function_call", "call_id": "c", "name": "weather", "arguments": '{"city": "Bern"}'}
RESPONSES: list[Any] = [
    ("text, then no output", TEXT, ended(output=[])),
    ("a call, then no output", CALL, ended(output=[])),
    ("output of an unknown type", TEXT, ended(output=[{"type": "riddle", "text": "Warm."}])),
    ("a call that is incomplete", CALL, unfinished),
    ("another text at the end", TEXT, lambda events: responses_events(Said("Cold."))[:-1] + events[-1:]),
    ("another call at the end", CALL, lambda events: responses_events(Said("", [("news", {})]))[:-1] + events[-1:]),
    ("an output that is an object", TEXT, ended(output={"type": "message"})),
    ("an event of another status", TEXT, lambda events: [*events[:-1], {**events[-1], "type": "response.failed"}]),
    ("two ends", TEXT, lambda events: [*events, *events[-1:]]),
    ("a message of the user", TEXT, lambda events: ended(output=[by_the_user(events)])(events)),
    ("another text called complete", TEXT, lambda events: [done("output_text", text="Cold."), *events]),
    (
        "other arguments called complete",
        CALL,
        lambda events: [done("function_call_arguments", arguments="{}"), *events],
    ),
    ("a call that is not at the end", TEXT, lambda events: [done("output_item", item=CALL_ITEM), *events]),
    ("completed, and incomplete for a reason", TEXT, ended(incomplete_details={"reason": "max_output_tokens"})),
]
ANTHROPIC: list[Any] = [
    ("the reason tool_use without a call", Said("Warm.", end="tool_use"), lambda events: events),
    ("deltas of a block that never began", TEXT, without("content_block_start")),
    ("deltas of a call that never began", CALL, without("content_block_start")),
    ("two reasons", TEXT, lambda events: [*events[:-2], change(events[-2], "max_tokens"), *events[-2:]]),
    ("a call that neither grows nor ends", CALL, lambda events: without("content_block_delta")(unended(events))),
    (
        "a block that is missing",
        TEXT,
        lambda events: [{**event, "index": 1} if "index" in event else event for event in events],
    ),
    ("two beginnings", TEXT, lambda events: events[:1] + events),
    ("a message of the user", TEXT, lambda events: [{**events[0], "message": {"role": "user"}}, *events[1:]]),
    ("text behind the end", TEXT, lambda events: [*events[:3], events[-2], events[-1], *events[3:-2]]),
]


def unended(events: list[Json]) -> list[Json]:
    return without("content_block_stop")(events)


CANDIDATES = "candidates"
GEMINI: list[Any] = [
    ("parts that are an object", TEXT, lambda events: [parts({"text": "Warm."}), events[-1]]),
    ("parts that are texts", TEXT, lambda events: [parts(["Warm."]), events[-1]]),
    ("content that is a text", TEXT, lambda events: [{CANDIDATES: [{"content": "Warm."}]}, events[-1]]),
    ("text outside the parts", TEXT, lambda events: [{CANDIDATES: [{"content": {"text": "Warm."}}]}, events[-1]]),
    ("content of the user", TEXT, lambda events: [{CANDIDATES: [{"content": {"role": "user", "parts": []}}]}, *events]),
    *(
        (what, CALL, lambda events, call=call: [parts([{"functionCall": {"name": "weather"} | call}]), events[-1]])
        for what, call in (
            ("arguments of another name", {"arguments": {"city": "Bern"}}),
            ("arguments in pieces", {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Bern"}]}),
            ("a call that goes on", {"args": {"city": "Bern"}, "willContinue": True}),
        )
    ),
    ("a text that is a call", CALL, lambda events: [parts([{"text": "a", "functionCall": {"name": "f"}}]), events[-1]]),
    ("two reasons", TEXT, lambda events: [*gemini_events(Said("Warm.", end="MAX_TOKENS")), events[-1]]),
    *(
        (f"a prompt blocked for {reason}", TEXT, lambda _, reason=reason: [{"promptFeedback": {"blockReason": reason}}])
        for reason in ("RIDDLE", "OTHER", "BLOCK_REASON_UNSPECIFIED", 5)
    ),
]
OLLAMA: list[Any] = [
    ("calls that are an object", CALL, lambda events: [line({"tool_calls": {"function": {}}}), events[-1]]),
    ("a call without a name", CALL, lambda events: [line({"tool_calls": [{"function": {}}]}), events[-1]]),
    ("content that is a list", TEXT, lambda events: [line({"content": ["Warm."]}), events[-1]]),
    ("content of another name", TEXT, lambda events: [line({"text": "Warm."}), events[-1]]),
    ("a message of the user", TEXT, lambda events: [line({"role": "user", "content": "Warm."}), *events]),
    ("text behind the end", TEXT, lambda events: [*events, line({"content": "Cold."})]),
]


def change(event: Json, reason: str) -> Json:
    return {**event, "delta": {"stop_reason": reason}}


def parts(value: Any) -> Json:
    return {CANDIDATES: [{"content": {"role": "model", "parts": value}}]}


def line(message: Json) -> Json:
    return {"message": {"role": "assistant", **message}, "done": False}


CASES = [
    pytest.param(api, events_of, said, damage, id=f"{api}: {what}")
    for api, events_of, cases in (
        ("responses", responses_events, RESPONSES),
        ("anthropic", anthropic_events, ANTHROPIC),
        ("gemini", gemini_events, GEMINI),
        ("ollama", ollama_events, OLLAMA),
    )
    for what, said, damage in cases
]


@pytest.mark.parametrize(("api", "events_of", "said", "damage"), CASES)
async def test_an_answer_that_contradicts_itself_is_none(asked, api, events_of, said, damage):
    with pytest.raises(Fault) as caught:
        await asked(api, Said(events=damage(events_of(said))))
    assert caught.value.kind is FaultKind.BAD_ANSWER, caught.value


@pytest.mark.parametrize("index", [0, None])
async def test_other_candidates_are_never_mixed_in(asked, index):
    other = {CANDIDATES: [{"index": 1, "content": {"parts": [{"text": "Cold."}]}, "finishReason": "STOP"}]}
    first = {CANDIDATES: [{"index": index, "content": {"parts": [{"text": "Warm."}]}, "finishReason": "STOP"}]}
    reply = await asked("gemini", Said(events=[other, first, other]))
    assert reply.content == "Warm."


@pytest.mark.parametrize("status", [201, 202, 206])
async def test_another_status_of_success_is_named(connect, question, seen, monkeypatch, status):
    monkeypatch.setitem(FAULTS, "odd", lambda exchange: exchange.answer_json({}, f"{status} Good"))
    with pytest.raises(Fault, match=f"status {status} instead of 200") as caught:
        await connect().ask(question("fault:odd"), seen)
    assert caught.value.kind is FaultKind.BAD_ANSWER


@pytest.mark.parametrize("body", ['{"choices": []}'.encode("utf-16"), b'callback({"choices": []})'])
async def test_an_answer_in_no_known_form_is_not_called_empty(connect, question, seen, monkeypatch, body):
    monkeypatch.setitem(FAULTS, "odd", lambda exchange: exchange.answer(body))
    with pytest.raises(Fault, match=r"not (JSON|UTF-8)") as caught:
        await connect().ask(question("fault:odd"), seen)
    assert caught.value.kind is FaultKind.BAD_ANSWER


async def test_a_response_that_is_completed_beside_an_error_is_an_error(asked):
    events = ended(error={"code": "server_error", "message": "we lost it"})(responses_events(TEXT))
    with pytest.raises(Fault, match="we lost it") as caught:
        await asked("responses", Said(events=events))
    assert caught.value.kind is FaultKind.SERVER


EVENTS = {
    "openai": chat_events,
    "responses": responses_events,
    "anthropic": anthropic_events,
    "gemini": gemini_events,
    "ollama": ollama_events,
}


@pytest.mark.parametrize("api", EVENTS)
async def test_errors_beside_an_answer_are_errors_on_every_api(asked, api):
    events = EVENTS[api](TEXT)
    beside = [*events[:-2], {**events[-2], "errors": [{"message": "half of it was lost"}]}, events[-1]]
    with pytest.raises(Fault, match="half of it was lost") as caught:
        await asked(api, Said(events=beside))
    assert caught.value.kind is FaultKind.SERVER


@pytest.mark.parametrize("levels", [150, 480, 30_000])
@pytest.mark.parametrize("api", EVENTS)
async def test_arguments_nested_too_deeply_are_of_one_kind_on_every_api(asked, api, levels):
    written = '{"a": ' + "[" * levels + "]" * levels + "}"
    raw = [json.dumps(event) for event in EVENTS[api](Said("", [("weather", {})]))]
    raw = [text.replace('"{}"', json.dumps(written)).replace('"args": {}', f'"args": {written}') for text in raw]
    said = Said(events=[text.replace('"arguments": {}', f'"arguments": {written}').encode() for text in raw])
    assert written.encode() in b"".join(said.events or []).replace(b"\\", b"")
    if levels == 150:
        assert (await asked(api, said)).tool_calls[0].arguments == written
        return
    with pytest.raises(Fault) as caught:
        await asked(api, said)
    assert caught.value.kind is FaultKind.BAD_ANSWER


def misnumbered(event: Json) -> Json:
    """Give the choice in a chunk another number."""
    name = "candidates" if "candidates" in event else "choices"
    return {**event, name: [{**event[name][0], "index": 3}]}


@pytest.mark.parametrize("api", ["openai", "gemini"])
async def test_a_piece_of_another_choice_that_never_ends_belongs_to_the_first(asked, api):
    events = EVENTS[api](Said("Warm, and it will stay so."))
    at = 1 if api == "openai" else 0
    with pytest.raises(Fault) as caught:
        await asked(api, Said(events=[*events[:at], misnumbered(events[at]), *events[at + 1 :]]))
    assert (caught.value.kind, "another choice" in caught.value.message) == (FaultKind.BAD_ANSWER, True)
    others = [misnumbered(event) for event in events if event.get("choices") or event.get("candidates")]
    assert (await asked(api, Said(events=[*others, *events]))).content == "Warm, and it will stay so."


@pytest.mark.parametrize(
    ("api", "before", "after"),
    [
        ("openai", b'"arguments"', b'"Arguments"'),
        ("anthropic", b'"partial_json"', b'"partial"'),
    ],
)
async def test_a_piece_of_a_call_under_another_name_is_not_left_out(asked, api, before, after):
    raw = [json.dumps(event).encode() for event in EVENTS[api](CALL)]
    last = max(number for number, event in enumerate(raw) if before in event)
    raw[last] = raw[last].replace(before, after)
    with pytest.raises(Fault) as caught:
        await asked(api, Said(events=raw))
    assert caught.value.kind is FaultKind.BAD_ANSWER


async def test_a_call_that_anthropic_cuts_is_the_models_as_elsewhere(asked):
    events = [event for event in anthropic_events(CALL) if "}" not in event.get("delta", {}).get("partial_json", "")]
    events[-2] = change(events[-2], "max_tokens")
    reply = await asked("anthropic", Said(events=events))
    assert reply.finish == "length"
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("weather", '{"city": "Bern')]
    assert reply.native["content"][-1]["input"] == {}, "the API takes back only objects"


ACCEPTED = [
    ("gemini", Said("", [("weather", {"city": "Bern"})], end="FUNCTION_CALL")),
    ("anthropic", Said("Warm.", end="end_of_turn")),
    ("openai", Said("Warm.", end="end_of_turn")),
    ("ollama", Said("Warm.", end="end_of_turn")),
]


@pytest.mark.parametrize(("api", "said"), ACCEPTED, ids=[api for api, _ in ACCEPTED])
async def test_a_new_reason_is_accepted_by_one_entry_that_the_message_names(asked, seen, api, said):
    with pytest.raises(Fault) as caught:
        await asked(api, said, {"max_tries": 9})
    assert len(seen.failed) == 2, "it is paid for twice, not nine times"
    assert caught.value.kind is FaultKind.BAD_ANSWER
    assert f"accept = ['{said.end}'] into models.toml" in caught.value.message
    reply = await asked(api, said, accept=(said.end.lower(),))
    assert (reply.content, len(reply.tool_calls)) == (said.text or None, len(said.calls))
    assert reply.finish == ("tool_calls" if said.calls else "stop")


RIDDLE = {"type": "riddle", "id": "r_1", "riddle": {"of": "the Sphinx"}}
PARTS: dict[str, Callable[[list[Json]], list[Json]]] = {
    "responses": lambda events: ended(output=[*events[-1]["response"]["output"], RIDDLE])(events),
    "anthropic": lambda events: [
        *events[:-2],
        {"type": "content_block_start", "index": 1, "content_block": RIDDLE},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "riddle_delta", "more": "?"}},
        {"type": "content_block_stop", "index": 1},
        *events[-2:],
    ],
    "gemini": lambda events: [*events[:-1], parts([{"riddle": RIDDLE, "thoughtSignature": "s"}]), events[-1]],
    "openai": lambda events: [{"choices": [{"index": 0, "delta": {"content": [RIDDLE]}}]}, *events],
}


@pytest.mark.parametrize("said", [TEXT, CALL], ids=["text", "call"])
@pytest.mark.parametrize("api", PARTS)
async def test_a_part_of_a_new_type_is_accepted_by_the_entry_that_the_message_names(asked, seen, api, said):
    beside = Said(events=PARTS[api](EVENTS[api](said)))
    with pytest.raises(Fault) as caught:
        await asked(api, beside, {"max_tries": 9})
    assert len(seen.failed) == 2, "it is paid for twice, not nine times"
    assert caught.value.kind is FaultKind.BAD_ANSWER
    assert "accept = ['riddle'] into models.toml" in caught.value.message
    alone, reply = await asked(api, said), await asked(api, beside, accept=("Riddle",))
    assert (reply.content or None, reply.tool_calls, reply.finish) == (alone.content, alone.tool_calls, alone.finish)
    if api != "openai":
        assert "the Sphinx" in str(reply.native), "the server gets its part back"


async def test_a_reason_that_names_a_failure_is_never_accepted(connect, question, seen, monkeypatch):
    monkeypatch.setitem(FAULTS, "abort", lambda exchange: both(exchange, {"content": "Warm."}, "abort"))
    with pytest.raises(Fault) as caught:
        await connect(accept=("abort",)).ask(question("fault:abort"), seen)
    assert caught.value.kind is FaultKind.SERVER
    assert "accept =" not in caught.value.message
