"""What servers of the native APIs send: errors in every form, parts of any type, counts that cannot be true."""

import time
from typing import Any

import pytest

from console.config.redaction import Redactor
from console.core.chat import Reply
from console.core.fault import Fault
from console.llm.reply import ReplyBuilder
from console.llm.wires.anthropic import ANTHROPIC_API
from console.llm.wires.gemini import GEMINI_API
from console.llm.wires.ollama import OLLAMA_API
from console.llm.wires.responses import RESPONSES_API

APIS = {"responses": RESPONSES_API, "anthropic": ANTHROPIC_API, "gemini": GEMINI_API, "ollama": OLLAMA_API}
WHOLE: dict[str, list[dict[str, Any]]] = {
    "responses": [
        {"type": "response.output_text.delta", "delta": "Warm."},
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "object": "response",
                "error": None,
                "model": "m",
                "usage": {"input_tokens": 3, "output_tokens": 2},
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "Warm."}]}],
            },
        },
    ],
    "anthropic": [
        {"type": "message_start", "message": {"type": "message", "model": "m", "usage": {"input_tokens": 3}}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Warm."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "Wa"}]}}]},
        {
            "candidates": [{"content": {"parts": [{"text": "rm."}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
            "modelVersion": "m",
        },
    ],
    "ollama": [
        {"model": "m", "message": {"role": "assistant", "content": "Warm."}, "done": False},
        {
            "model": "m",
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 3,
            "eval_count": 2,
        },
    ],
}
ERRORS: list[Any] = [
    {"object": "error", "message": "down"},
    {"code": 500, "message": "down"},
    {"detail": "down"},
    {"type": "server_error", "message": "down"},
    {"error": "down"},
    {"errors": [{"message": "down"}]},
    [{"error": {"message": "down"}}],
]


def play(api: str, *chunks: Any) -> Reply:
    builder = ReplyBuilder(APIS[api].assembly(), lambda kind, text: None, Redactor())
    for chunk in chunks:
        builder.add_chunk(chunk)
    return builder.reply(0.1, None)


@pytest.mark.parametrize("api", APIS)
def test_a_whole_message_is_a_reply(api: str) -> None:
    reply = play(api, *WHOLE[api])
    assert (reply.content, reply.finish, reply.model) == ("Warm.", "stop", "m")
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (3, 2)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_an_error_in_the_middle_is_never_a_reply_whatever_follows(api: str, error: Any) -> None:
    with pytest.raises(Fault, match="down"):
        play(api, WHOLE[api][0], error, *WHOLE[api][1:])


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [deeper for key, item in inner for deeper in ((*path, key), *paths_in(item, (*path, key)))]


@pytest.mark.parametrize("api", APIS)
def test_parts_of_any_type_are_a_reply_or_a_bad_answer(api: str) -> None:
    for path in paths_in(WHOLE[api]):
        for new in (None, 5, "text", [], {}, [{"x": 1}], {"x": [1]}, 10**40, True):
            try:
                reply = play(api, *changed(WHOLE[api], path, new))
            except Fault:
                continue
            for text in (reply.content or "", reply.model, reply.reasoning, reply.finish):
                assert isinstance(text, str), (path, new)
            usage = reply.usage
            assert usage is None or max(usage.input, usage.output, usage.cached, usage.reasoning) < 2**53, (path, new)


@pytest.mark.parametrize("api", APIS)
def test_counts_that_cannot_be_true_are_unknown(api: str) -> None:
    counted = [path for path in paths_in(WHOLE[api]) if "oken" in str(path[-1]) or str(path[-1]).endswith("eval_count")]
    assert len(counted) == 2
    for path in counted:
        for new in (-1, 10**18, "7", float("nan"), True):
            assert play(api, *changed(WHOLE[api], path, new)).usage is None, (path, new)


PLACES = {
    "anthropic": (3, "delta", "text"),
    "gemini": (0, "candidates", 0, "content", "parts", 0, "text"),
    "ollama": (0, "message", "content"),
}


@pytest.mark.parametrize("api", PLACES)
def test_a_text_of_many_pieces_takes_time_by_its_length(api: str) -> None:
    """Copied at each of its 40,000 pieces, a text of 8 MB makes 160 GB; that is tens of seconds instead of one."""
    chunks, place = WHOLE[api], PLACES[api]
    piece = changed(chunks, place, "x" * 200)[place[0]]
    began = time.process_time()
    reply = play(api, *chunks[: place[0]], *[piece] * 40_000, *chunks[place[0] + 1 :])
    assert time.process_time() - began < 5
    assert len(reply.content or "") >= 8_000_000
