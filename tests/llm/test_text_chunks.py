"""Events that hold one more text are read in one step, with the result of the reader of all others."""

import json
from itertools import groupby
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.config.redaction import Redactor
from console.core.fault import Fault
from console.llm.reply import ReplyBuilder
from console.llm.wires.chat import CHAT_API
from console.llm.wires.text_chunk import read_text_chunk

ODD = st.sampled_from([None, "", [], {}, 0, 1, True, "user", "error", "stop", "a", [{"type": "text", "text": "b"}]])
CALL = st.fixed_dictionaries(
    {},
    optional={
        "index": st.sampled_from([0, 0, 0, 1, None, True, 1.0, -1]),
        "id": st.sampled_from([None, "call_1", "call_2", ""]),
        "type": st.sampled_from(["function", "function", None, "other"]),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "arguments": st.one_of(st.text(max_size=3), ODD),
                "name": st.sampled_from([None, None, None, "f", ""]),
                "thought_signature": ODD,
            },
        ),
        "strict": ODD,
    },
)
DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": st.one_of(st.text(max_size=3), ODD),
        "role": st.sampled_from(["assistant", "user", None, 5]),
        "tool_calls": st.one_of(st.lists(CALL, max_size=2), ODD),
        **dict.fromkeys(("refusal", "reasoning", "reasoning_content", "function_call", "audio"), ODD),
    },
)
CHOICE = st.fixed_dictionaries(
    {"delta": DELTA},
    optional={
        "index": st.sampled_from([0, 0, 0, 1, None, True, "0"]),
        "finish_reason": st.sampled_from([None, None, None, "stop", "length"]),
        "logprobs": st.sampled_from([None, None, {"content": []}]),
        "text": ODD,
    },
)
CHUNK = st.fixed_dictionaries(
    {"choices": st.lists(CHOICE, min_size=1, max_size=2), "created": st.sampled_from([1, 1, 1, "1"])},
    optional={
        "id": st.sampled_from(["c", "c", "c", "d", "", None]),
        "object": st.sampled_from(["chat.completion.chunk", "chat.completion.chunk", "error"]),
        "model": st.sampled_from(["m", "m", "n", None]),
        "system_fingerprint": st.sampled_from([None, "fp", "fp2", 5]),
        "usage": st.sampled_from([None, None, {"prompt_tokens": 1, "completion_tokens": 1}]),
        "provider": st.sampled_from(["p", "q"]),
        "detail": ODD,
    },
)
USUAL = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "system_fingerprint": "fp"}


def usual(text: str, **more: Any) -> dict[str, Any]:
    return delta(content=text) | more


def delta(**said: Any) -> dict[str, Any]:
    return USUAL | {"choices": [{"index": 0, "delta": said, "finish_reason": None}]}


def continued(arguments: str, index: int = 0) -> dict[str, Any]:
    """The next piece of the arguments of a call."""
    return delta(tool_calls=[{"index": index, "function": {"arguments": arguments}}])


def joined(shown: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what was shown, with texts of one kind in a row as one."""
    return [(kind, "".join(text for _, text in texts)) for kind, texts in groupby(shown, key=itemgetter(0))]


def read(events: list[bytes], *, in_one_step: bool) -> tuple[object, list[tuple[str, str]]]:
    """Return the reply, or the sentence of the fault, and what was shown of it meanwhile."""
    shown: list[tuple[str, str]] = []
    builder = ReplyBuilder(CHAT_API.assembly(), lambda kind, text: shown.append((kind, text)), Redactor(["c" * 12]))
    try:
        at = 0
        while at < len(events):
            if in_one_step and (texts := builder.add_texts(events[at:])):
                at += texts
            else:
                builder.add_chunk(json.loads(events[at]))
                at += 1
        builder.mark_end()
        return builder.reply(0.1, None), joined(shown)
    except Fault as fault:
        return fault.message, joined(shown)


BEGUN = delta(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": ""}}])
PIECES = st.builds(continued, st.text(max_size=4), st.sampled_from([0, 0, 1]))


@given(
    st.sampled_from([usual(""), BEGUN]),
    st.lists(st.one_of(CHUNK, st.text(max_size=4).map(usual), PIECES), max_size=5),
    st.booleans(),
)
def test_both_ways_of_reading_give_the_same(
    first: dict[str, Any], chunks: list[dict[str, Any]], is_ended: bool
) -> None:
    end = [USUAL | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}] if is_ended else []
    events = [json.dumps(chunk).encode() for chunk in (first, *chunks, *end)]
    assert read(events, in_one_step=True) == read(events, in_one_step=False)


@pytest.mark.parametrize(
    "more", [{}, {"obfuscation": "x7"}, {"usage": None}, {"service_tier": "default"}, {"system_fingerprint": None}]
)
def test_usual_events_are_read_in_one_step(more: dict[str, Any]) -> None:
    chunk = read_text_chunk(json.dumps(usual("Hello", **more)).encode())
    assert chunk is not None
    assert chunk.piece == (None, "Hello")


def test_pieces_of_arguments_are_read_in_one_step() -> None:
    builder = ReplyBuilder(CHAT_API.assembly(), lambda kind, text: None, Redactor([]))
    builder.add_chunk(BEGUN)
    events = [json.dumps(chunk).encode() for chunk in (continued('{"a"'), continued(": 1}"), continued("2", 1))]
    assert builder.add_texts(events) == 2
    assert builder.add_texts(events[2:]) == 0, "a call that nothing has begun"


@pytest.mark.parametrize(
    "more", [{"error": {}}, {"provider": "p"}, {"usage": {"prompt_tokens": 1}}, {"object": "error"}]
)
def test_other_events_are_not(more: dict[str, Any]) -> None:
    assert read_text_chunk(json.dumps(usual("Hello", **more)).encode()) is None
