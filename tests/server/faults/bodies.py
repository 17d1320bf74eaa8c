"""Bodies that are no good answers, or odd ones."""

import gzip

from server.faults.registry import FAULTS, TEXT, both, choice, chunk, fault, stream
from server.http1 import Exchange

FAULTS |= {
    "html200": lambda e: e.answer(b"<!DOCTYPE html><html><title>Log in to WiFi</title></html>", kind="text/html"),
    "err200": lambda e: e.answer_json({"error": {"message": "Rate limited upstream", "code": 429}}),
    "empty_body": lambda e: e.answer(b""),
    "empty_choices": lambda e: e.answer_json({"choices": []}),
    "null_choices": lambda e: e.answer_json({"choices": None}),
    "null_content": lambda e: both(e, {"content": None}),
    "empty_content": lambda e: both(e, {"content": ""}),
    "type_confusion": lambda e: e.answer_json({"choices": [choice({"content": {"a": 1}})], "usage": "many"}),
    "refusal": lambda e: both(e, {"content": None, "refusal": "I cannot help with that."}),
    "length": lambda e: both(e, {"content": "cut at the"}, "length"),
    "filter_finish": lambda e: both(e, {"content": ""}, "content_filter"),
    "no_reason": lambda e: both(e, {"content": "The weather is fine"}, None),
    "failed_reason": lambda e: both(e, {"content": "The weather is fine"}, "insufficient_system_resource"),
    "odd_reason": lambda e: both(e, {"content": "The weather is fine"}, "because"),
    "no_calls": lambda e: both(e, {"content": None}, "tool_calls"),
    # An error in a list, as Gemini's OpenAI-style API sends it.
    "err_list200": lambda e: e.answer_json(
        [{"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}]
    ),
    "bad_json": lambda e: e.answer(b'{"choices": [{"message": '),
    "bad_utf8": lambda e: e.answer(b'{"choices": [{"index": 0, "message": {"content": "\xff"}}]}'),
    "deep": lambda e: e.answer(b'{"choices": ' + b"[" * 60_000 + b"]" * 60_000 + b"}"),
    "nan": lambda e: e.answer(
        b'{"choices": [{"index": 0, "message": {"content": "ok"}, "finish_reason": "stop"}],'
        b' "usage": {"prompt_tokens": NaN, "completion_tokens": 1e999}}'
    ),
    "huge_int": lambda e: e.answer(b'{"choices": [], "created": ' + b"9" * 10_000 + b"}"),
    "surrogate": lambda e: both(e, {"content": "bad \ud800 half"}),
    "big10mb": lambda e: both(e, {"content": "x" * 10_000_000}),
    "too_big": lambda e: e.answer(b'{"choices": [{"message": {"content": "' + b"x" * (17 << 20) + b'"}}]}'),
    "gzipbomb": lambda e: e.answer(gzip.compress(b" " * 50_000_000), content_encoding="gzip"),
}


@fault
def content_parts(e: Exchange) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    both(e, {"content": [thinking, {"type": "text", "text": TEXT}]})


@fault
def citations(e: Exchange) -> None:
    """Parts without text between those with text, as Mistral sends them."""
    reference = {"type": "reference", "reference_ids": [0]}
    both(e, {"content": [{"type": "text", "text": "The weather"}, reference, {"type": "text", "text": " is fine"}]})


@fault
def summary_parts(e: Exchange) -> None:
    """Thoughts in a summary, as Databricks sends them."""
    thoughts = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    both(e, {"content": [thoughts, {"type": "text", "text": TEXT}]})


@fault
def second_choice(e: Exchange) -> None:
    """Two choices without numbers."""
    ghost = {"message": {"content": " ghost"}, "delta": {"content": " ghost"}, "finish_reason": "stop"}
    first = {"message": {"content": "ok"}, "delta": {"content": "ok"}, "finish_reason": "stop"}
    body = {"id": "c", "model": "m", "choices": [first, ghost]}
    if e.json.get("stream"):
        stream(e, body)
    else:
        e.answer_json(body)


@fault
def success_code(e: Exchange) -> None:
    """A code that says that all is well, as iFlytek sends it."""
    head = {"code": 0, "message": "Success", "sid": "x"}
    if e.json.get("stream"):
        stream(e, chunk({"content": "ok"}) | head, chunk({}, "stop") | head)
    else:
        e.answer_json({"id": "c", "model": "m", "choices": [choice({"content": "ok"})], **head})
