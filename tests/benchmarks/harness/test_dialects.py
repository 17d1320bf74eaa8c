"""Responses and Anthropic Messages at the gateway: what is read, what is written, and what is refused."""

import json
from typing import Any

import pytest

from console.core.chat import Reply, ToolCall, Usage
from console.llm.gateway.anthropic_dialect import ANTHROPIC
from console.llm.gateway.dialect import CannotConvert, Dialect
from console.llm.gateway.responses_dialect import RESPONSES

REPLY = Reply("hi", (ToolCall("c1", "add", '{"x": 1}'),), finish="tool_calls", usage=Usage(9, 3, cached=4), model="m")
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1}'}}
PARAMETERS = {"type": "object", "properties": {"x": {"type": "integer"}}}
TOLD = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "1+1?"},
    {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "2"},
    {"role": "user", "content": "And?"},
]


def events(dialect: Dialect) -> list[dict[str, Any]]:
    lines = "".join(dialect.events(REPLY, dialect.read({}))).splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_a_conversation_of_anthropic_is_read() -> None:
    call = ANTHROPIC.read({
        "model": "claude",
        "max_tokens": 50,
        "stop_sequences": ["END"],
        "metadata": {"user_id": "new each time"},
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cch=1f3;\nBe brief."}],
        "tools": [{"name": "add", "description": "Adds.", "input_schema": PARAMETERS}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "messages": [
            {"role": "user", "content": "1+1?"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "c1", "name": "add", "input": {"x": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "2"}]},
                {"type": "text", "text": "And?"},
            ]},
        ],
    })  # fmt: skip
    assert call.messages == TOLD
    assert call.tools[0]["function"] == {"name": "add", "description": "Adds.", "parameters": PARAMETERS}
    assert call.params == {
        "max_tokens": 50,
        "stop": ["END"],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }


def test_a_reply_is_written_in_blocks_whole_and_as_events() -> None:
    whole = ANTHROPIC.whole(REPLY, ANTHROPIC.read({}))
    assert whole["content"] == [
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "c1", "name": "add", "input": {"x": 1}},
    ]
    assert whole["stop_reason"] == "tool_use"
    assert whole["usage"] == {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 3}
    streamed = events(ANTHROPIC)
    deltas = [event["delta"] for event in streamed if event["type"] == "content_block_delta"]
    assert [delta.get("text") or json.loads(delta["partial_json"]) for delta in deltas] == ["hi", {"x": 1}]
    assert streamed[-2]["usage"] == whole["usage"]


def test_thoughts_that_must_come_back_are_sent_as_the_model_wrote_them() -> None:
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "hi"}]
    reply = Reply("hi", native={"content": blocks, "api": "anthropic"})
    assert ANTHROPIC.whole(reply, ANTHROPIC.read({}))["content"] == blocks


def test_a_conversation_of_responses_is_read() -> None:
    call = RESPONSES.read({
        "model": "gpt",
        "instructions": "Be brief.",
        "max_output_tokens": 50,
        "reasoning": {"effort": "low"},
        "store": False,
        "tools": [{"type": "function", "name": "add", "parameters": PARAMETERS, "strict": True}],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "1+1?"}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
            {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"x": 1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "2"},
            {"role": "user", "content": "And?"},
        ],
    })  # fmt: skip
    assert call.messages == TOLD
    assert call.tools[0]["function"] == {"name": "add", "parameters": PARAMETERS, "strict": True}
    assert call.params == {"max_tokens": 50, "reasoning_effort": "low"}


def test_a_reply_is_written_in_items_whole_and_as_events() -> None:
    whole = RESPONSES.whole(REPLY, RESPONSES.read({}))
    message, made = whole["output"]
    assert message["content"][0]["text"] == "hi"
    assert (made["call_id"], made["name"], made["arguments"]) == ("c1", "add", '{"x": 1}')
    assert whole["usage"]["input_tokens"] == 9
    streamed = events(RESPONSES)
    assert [event["sequence_number"] for event in streamed] == list(range(len(streamed)))
    assert "".join(event["delta"] for event in streamed if event["type"] == "response.output_text.delta") == "hi"
    assert streamed[-1]["type"] == "response.completed"
    assert streamed[-1]["response"]["output"] == whole["output"]


@pytest.mark.parametrize(
    ("dialect", "body", "words"),
    [
        (ANTHROPIC, {"tools": [{"type": "bash_20250124", "name": "bash"}]}, "`bash_20250124`"),
        (ANTHROPIC, {"messages": [{"role": "user", "content": [{"type": "document"}]}]}, "`document`"),
        (RESPONSES, {"tools": [{"type": "web_search"}]}, "`web_search`"),
        (RESPONSES, {"previous_response_id": "r1"}, "`previous_response_id`"),
        (RESPONSES, {"input": [{"type": "computer_call"}]}, "`computer_call`"),
    ],
)
def test_what_has_no_like_is_refused_by_name(dialect: Dialect, body: dict[str, Any], words: str) -> None:
    with pytest.raises(CannotConvert, match=words):
        dialect.read(body)
