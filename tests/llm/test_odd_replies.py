"""Odd but readable answers become the right reply: nothing invented, nothing repaired that a benchmark would judge."""

import json

import pytest
from server.openai_server import Scripted

from console.core.chat import Usage

MODES = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])


def settings(streamed):
    return {} if streamed else {"params": {"stream": False}}


@MODES
async def test_text_arrives_whole_and_meanwhile(connect, question, seen, streamed):
    reply = await connect(**settings(streamed)).ask(question("hello"), seen)
    assert reply.content == seen.text() == "You said: hello"
    assert (reply.finish, reply.model, reply.tries, reply.simulated) == ("stop", "m", 1, False)
    assert reply.usage is not None
    assert reply.usage.output > 0
    assert (reply.first_token_s is not None) is streamed
    assert reply.latency_s > 0


CONTENT = [
    ("null_content", None, "stop"),
    ("empty_content", "", "stop"),
    ("length", "cut at the", "length"),
    ("filter_finish", "", "content_filter"),
    ("refusal", "I cannot help with that.", "stop"),
    ("content_parts", "The weather is fine", "stop"),
    ("no_stream_options", "The weather is fine", "stop"),
    ("no_stream", "The weather is fine", "stop"),
    ("second_choice", "ok", "stop"),
    ("success_code", "ok", "stop"),
    ("citations", "The weather is fine", "stop"),
    ("summary_parts", "The weather is fine", "stop"),
]


@MODES
@pytest.mark.parametrize(("name", "content", "finish"), CONTENT)
async def test_content_is_what_was_sent(connect, question, seen, streamed, name, content, finish):
    reply = await connect(**settings(streamed)).ask(question(f"fault:{name}"), seen)
    assert (reply.content, reply.finish) == (content, finish)
    assert reply.tool_calls == ()


@MODES
async def test_half_characters_are_replaced_and_flagged(connect, question, seen, streamed):
    reply = await connect(**settings(streamed)).ask(question("fault:surrogate"), seen)
    assert reply.content == "bad \ufffd half"
    assert "surrogates replaced" in reply.flags


STREAMED = [
    ("s_splitutf8", "żółć 漢字 👩‍🚀"),
    ("s_surrogate_split", "a😀b"),
    ("s_aftdone", "The weather is fine"),
    ("s_other_choice", "The weather is fine"),
    ("s_stop_everywhere", "The weather is fine"),
    ("s_null_word", "The weather is fine"),
    ("nan", "ok"),
    ("s_null_delta_at_the_end", "The weather is fine"),
    ("s_filter_results", "The weather is fine"),
    ("s_restated", "The weather is fine"),
    ("s_restated_each_time", "The weather is fine"),
    ("s_text_beside_deltas", "The weather is fine"),
    ("s_reason_twice", "The weather is fine"),
]


@pytest.mark.parametrize(("name", "content"), STREAMED)
async def test_streams_with_quirks_are_read(connect, question, seen, name, content):
    reply = await connect().ask(question(f"fault:{name}"), seen)
    assert reply.content == content == seen.text()
    assert "surrogates replaced" not in reply.flags


async def test_reasoning_is_kept_apart(connect, question, seen):
    reply = await connect().ask(question("fault:s_reasoning"), seen)
    assert (reply.reasoning, reply.content) == ("hmm", "yes")
    assert seen.text("reasoning") == "hmm"


async def test_a_prompt_that_the_provider_filters_is_an_answer_not_a_fault(connect, question, seen):
    reply = await connect().ask(question("fault:filtered"), seen)
    assert (reply.content, reply.finish) == (None, "content_filter")
    assert seen.failed == []


@MODES
async def test_large_answers_are_whole(connect, question, seen, streamed):
    reply = await connect(**settings(streamed)).ask(question("fault:big10mb"), seen)
    assert reply.content is not None
    assert len(reply.content) == 10_000_000


async def test_a_flood_of_chunks_is_read_to_the_end(connect, question, seen):
    reply = await connect({"timeout_s": 120}).ask(question("fault:s_flood"), seen)
    assert reply.content is not None
    assert len(reply.content) == 60_000
    assert len(seen.texts) == 20_000


CALLS = [
    ("bad_args", [("call_a", "f", '{"city": "Ber')]),
    ("dict_args", [("call_a", "f", '{"city": "Köln"}')]),
    ("function_call", [("call_0", "f", "{}")]),
]


@MODES
@pytest.mark.parametrize(("name", "calls"), CALLS)
async def test_calls_keep_the_text_of_the_model(connect, question, seen, streamed, name, calls):
    reply = await connect(**settings(streamed)).ask(question(f"fault:{name}"), seen)
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == calls
    assert reply.finish == "tool_calls"
    assert reply.content is None


@pytest.mark.parametrize("name", ["s_noindex", "s_all_zero"])
async def test_calls_are_told_apart_without_numbers(connect, question, seen, name):
    reply = await connect().ask(question(f"fault:{name}"), seen)
    found = [(call.id, call.name, json.loads(call.arguments)) for call in reply.tool_calls]
    assert found == [("id1", "f", {"a": 1}), ("id2", "g", {"b": 2})]


async def test_several_calls_stream_in_pieces(connect, question, seen, server):
    server.answer, before = (lambda _: Scripted(calls=[("f", {"x": "y" * 50}), ("g", {})], chunk=3)), server.answer
    try:
        reply = await connect().ask(question(tools=[{"type": "function", "function": {"name": "f"}}]), seen)
    finally:
        server.answer = before
    assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [("f", {"x": "y" * 50}), ("g", {})]
    assert seen.text("tool") == 'f {"x": "' + "y" * 50 + '"}\ng {}'


USAGES = [
    ("usage_missing", None),
    ("usage_negative", None),
    ("usage_zero", None),
    ("usage_absurd", None),
    ("usage_full", Usage(100, 20, 64, 12, 0.00125)),
]


@MODES
@pytest.mark.parametrize(("name", "usage"), USAGES)
async def test_usage_is_believed_only_when_it_can_be_true(connect, question, seen, streamed, name, usage):
    reply = await connect(**settings(streamed)).ask(question(f"fault:{name}"), seen)
    assert reply.usage == usage


async def test_a_server_that_knows_only_the_newer_name_gets_it(connect, question, seen, server):
    endpoint = connect(max_tokens=7)
    for _ in range(2):
        reply = await endpoint.ask(question("fault:max_completion_tokens"), seen)
        assert reply.content == "The weather is fine"
    assert [(fault.hint, wait_s) for fault, wait_s in seen.failed] == [
        ('Write rename = { max_tokens = "max_completion_tokens" } into [tested] of models.toml.', 0.0)
    ], "said once"
    assert [body.get("max_completion_tokens") for body in server.requests[-2:]] == [7, 7]
    assert "max_tokens" in server.requests[-3]
