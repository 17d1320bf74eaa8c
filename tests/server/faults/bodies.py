"""Bodies that are no good answers, or odd ones."""

import gzip

from server.faults.registry import TEXT, both, choice, chunk, fault, stream
from server.http1 import Exchange


@fault
def html200(e: Exchange) -> None:
    e.answer(b"<!DOCTYPE html><html><title>Log in to WiFi</title></html>", kind="text/html")


@fault
def err200(e: Exchange) -> None:
    e.answer_json({"error": {"message": "Rate limited upstream", "code": 429}})


@fault
def empty_body(e: Exchange) -> None:
    e.answer(b"")


@fault
def empty_choices(e: Exchange) -> None:
    e.answer_json({"choices": []})


@fault
def null_choices(e: Exchange) -> None:
    e.answer_json({"choices": None})


@fault
def null_content(e: Exchange) -> None:
    both(e, {"content": None})


@fault
def empty_content(e: Exchange) -> None:
    both(e, {"content": ""})


@fault
def type_confusion(e: Exchange) -> None:
    e.answer_json({"choices": [choice({"content": {"a": 1}})], "usage": "many"})


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
def refusal(e: Exchange) -> None:
    both(e, {"content": None, "refusal": "I cannot help with that."})


@fault
def length(e: Exchange) -> None:
    both(e, {"content": "cut at the"}, "length")


@fault
def filter_finish(e: Exchange) -> None:
    both(e, {"content": ""}, "content_filter")


@fault
def no_reason(e: Exchange) -> None:
    both(e, {"content": "The weather is fine"}, None)


@fault
def failed_reason(e: Exchange) -> None:
    both(e, {"content": "The weather is fine"}, "insufficient_system_resource")


@fault
def odd_reason(e: Exchange) -> None:
    both(e, {"content": "The weather is fine"}, "because")


@fault
def no_calls(e: Exchange) -> None:
    both(e, {"content": None}, "tool_calls")


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


@fault
def err_list200(e: Exchange) -> None:
    """An error in a list, as Gemini's OpenAI-style API sends it."""
    e.answer_json([{"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}])


@fault
def bad_json(e: Exchange) -> None:
    e.answer(b'{"choices": [{"message": ')


@fault
def bad_utf8(e: Exchange) -> None:
    e.answer(b'{"choices": [{"index": 0, "message": {"content": "\xff"}}]}')


@fault
def deep(e: Exchange) -> None:
    e.answer(b'{"choices": ' + b"[" * 60_000 + b"]" * 60_000 + b"}")


@fault
def nan(e: Exchange) -> None:
    e.answer(
        b'{"choices": [{"index": 0, "message": {"content": "ok"}, "finish_reason": "stop"}],'
        b' "usage": {"prompt_tokens": NaN, "completion_tokens": 1e999}}'
    )


@fault
def huge_int(e: Exchange) -> None:
    e.answer(b'{"choices": [], "created": ' + b"9" * 10_000 + b"}")


@fault
def surrogate(e: Exchange) -> None:
    both(e, {"content": "bad \ud800 half"})


@fault
def big10mb(e: Exchange) -> None:
    both(e, {"content": "x" * 10_000_000})


@fault
def too_big(e: Exchange) -> None:
    e.answer(b'{"choices": [{"message": {"content": "' + b"x" * (17 << 20) + b'"}}]}')


@fault
def gzipbomb(e: Exchange) -> None:
    e.answer(gzip.compress(b" " * 50_000_000), content_encoding="gzip")
