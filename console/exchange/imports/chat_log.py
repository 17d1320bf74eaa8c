"""Conversations in the OpenAI chat format, one JSON object per line: `messages`, and optionally `score` or `scores`."""

from collections.abc import Iterator
from pathlib import Path

from console.core.chat import Usage
from console.exchange.imports.chat import (
    after_last_reply,
    calls_of_messages,
    content_text,
    conversation,
    first_question,
)
from console.exchange.imports.jsonl import LinesLog, first_line
from console.exchange.imports.log import (
    Log,
    LogFormat,
    LogHead,
    LogSample,
    LogScore,
    Table,
    listed,
    table,
    tables,
    text,
    without,
)
from console.exchange.imports.numbers import amount, count, seconds
from console.store.atomic import open_regular

_TARGETS = ("target", "expected", "answer", "ideal", "reference")
_SCORES = ("score", "reward", "passed", "correct")
_PLACED = (
    "id",
    "messages",
    "scores",
    "category",
    "usage",
    "tools",
    "functions",
    "model",
    "error",
    "latency_s",
    "cost_usd",
)


def _open(path: Path) -> list[Log]:
    with open_regular(path) as file:
        first = first_line(file.read(1 << 16))
    head = LogHead(tool="chat", task=path.stem, model=text(first.get("model")) or "unknown")
    return [LinesLog(path, head, _samples)]


def _samples(record: Table, number: int) -> Iterator[LogSample]:
    messages = conversation(record.get("messages"))
    if not messages:
        raise ValueError("is not a conversation: it has no messages")
    calls = calls_of_messages(messages)
    usage = table(record.get("usage"))
    tokens = Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")))
    scores = {name: LogScore(record[name]) for name in _SCORES if record.get(name) is not None}
    named = record.get("scores")
    scores |= {name: LogScore(value) for name, value in table(named).items()}
    target = next((record[name] for name in _TARGETS if record.get(name) is not None), None)
    yield LogSample(
        id=text(record.get("id")) or f"line {number}",
        title=first_question(messages),
        category=text(record.get("category")),
        target=target,
        calls=calls,
        tail=tuple(after_last_reply(messages)),
        answer=content_text(calls[-1].reply.content)[0] if calls else None,
        scores=scores,
        error=text(record.get("error")),
        seconds=seconds(record.get("latency_s")),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cost_usd=amount(record.get("cost_usd")),
        data=without({"tools": listed(record.get("tools")) or listed(record.get("functions"))}),
        rest=without(record, *_PLACED, *_SCORES, *_TARGETS),
    )


def _is_chat(path: Path, head: bytes) -> bool:
    messages = tables(first_line(head).get("messages"))
    return path.suffix == ".jsonl" and bool(messages) and all("role" in message for message in messages)


FORMAT = LogFormat("chat", "conversations in the OpenAI chat format, JSON lines", _is_chat, _open)
