"""A good reply of any API with one damaged part is the same reply or a fault, never another one that would be scored.

Damage: a part is missing, null, empty, of another type or name, there twice or out of order, or one of the API's own
words is changed. What the model says is exempt where its API says it only once: nothing tells a lost word from one that
was never said. Every part and every damage of four replies is tried; `make soak` makes up many replies more.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from server.api_server import (
    Said,
    anthropic_events,
    chat_events,
    completion_events,
    gemini_events,
    ollama_events,
    responses_events,
)
from support.fuzz_budget import BUDGET

from console.config.redaction import Redactor
from console.core.chat import Reply
from console.core.fault import Fault
from console.llm.reply import ReplyBuilder
from console.llm.wires.anthropic import ANTHROPIC_API
from console.llm.wires.chat import CHAT_API, COMPLETIONS_API
from console.llm.wires.gemini import GEMINI_API
from console.llm.wires.ollama import OLLAMA_API
from console.llm.wires.provider_api import ProviderApi
from console.llm.wires.responses import RESPONSES_API

Events = list[dict[str, Any]]
Path = tuple[Any, ...]
SEED = 20261123
SAID = [
    Said("The weather is fine today."),
    Said("", [("weather", {"city": "Bern", "days": 3}), ("news", {})], reasoning="I had better look it up."),
    Said("I look it up.", [("weather", {"city": "Zürich"})], reasoning="Hm."),
    Said("\n\n", [("weather", {"city": "Bern"})], reasoning="Hm."),
]
WORDS = frozenset({"type", "object", "status", "finish_reason", "stop_reason", "finishReason", "done_reason"})
"""Fields with words of the APIs' own."""
WRONG: tuple[Any, ...] = (5, "text", True, [], {}, [1], {"x": 1}, [[]])
LOSSES = ("dropped", "null", "empty", "misnamed", "twice", "swapped")
"""Kinds of damage that may leave what the server could have sent as well."""


@dataclass(frozen=True)
class Form:
    """One way in which an API sends replies."""

    api: ProviderApi
    events: Callable[[Said], Events]
    once: frozenset[str] = frozenset()
    """Fields that hold, at any depth, only what the model says, and that are the only ones to do so."""
    is_stream: bool = True
    has_end_mark: bool = False


def whole_chat(said: Said) -> Events:
    calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(said.calls)
    ]
    message = {"role": "assistant", "content": said.text or None, "reasoning_content": said.reasoning or None}
    reason = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message | ({"tool_calls": calls} if calls else {}), "finish_reason": reason}
    return [{"object": "chat.completion", "model": "m-1", "choices": [choice], "usage": {"prompt_tokens": 11}}]


def whole_completion(said: Said) -> Events:
    return [{"model": "m-1", "choices": [{"index": 0, "text": said.text, "finish_reason": "stop"}]}]


def whole_response(said: Said) -> Events:
    return [responses_events(said)[-1]["response"]]


def whole_message(said: Said) -> Events:
    content: Events = [{"type": "thinking", "thinking": said.reasoning, "signature": "s"}] if said.reasoning else []
    content += [{"type": "text", "text": said.text}] if said.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        for number, (name, arguments) in enumerate(said.calls)
    ]
    reason = "tool_use" if said.calls else "end_turn"
    return [{"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": reason}]


def whole_candidate(said: Said) -> Events:
    *chunks, last = gemini_events(said)
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    candidate = {"content": {"role": "model", "parts": parts}, **last["candidates"][0]}
    return [{**last, "candidates": [candidate]}]


def whole_line(said: Said) -> Events:
    last = ollama_events(said)[-1]
    calls = [{"function": {"name": name, "arguments": arguments}} for name, arguments in said.calls]
    message = {"role": "assistant", "content": said.text, "thinking": said.reasoning}
    return [{**last, "message": message | ({"tool_calls": calls} if calls else {})}]


CHAT_ONCE = frozenset({"content", "reasoning_content", "arguments"})
GEMINI_ONCE = frozenset({"parts", "text", "thought", "args"})
OLLAMA_ONCE = frozenset({"content", "thinking", "tool_calls", "arguments"})
FORMS = {
    "chat, streamed": Form(
        CHAT_API,
        chat_events,
        CHAT_ONCE | {"choices", "delta", "tool_calls", "function"},
        has_end_mark=True,
    ),
    "chat, whole": Form(CHAT_API, whole_chat, CHAT_ONCE, is_stream=False),
    "completions, streamed": Form(
        COMPLETIONS_API, completion_events, frozenset({"choices", "text"}), has_end_mark=True
    ),
    "completions, whole": Form(COMPLETIONS_API, whole_completion, frozenset({"text"}), is_stream=False),
    "responses, streamed": Form(RESPONSES_API, responses_events),
    "responses, whole": Form(
        RESPONSES_API, whole_response, frozenset({"text", "summary", "arguments"}), is_stream=False
    ),
    "anthropic, streamed": Form(ANTHROPIC_API, anthropic_events, frozenset({"text", "thinking", "partial_json"})),
    "anthropic, whole": Form(
        ANTHROPIC_API, whole_message, frozenset({"text", "thinking", "content", "input"}), is_stream=False
    ),
    "gemini, streamed": Form(GEMINI_API, gemini_events, GEMINI_ONCE | {"candidates", "content"}),
    "gemini, whole": Form(GEMINI_API, whole_candidate, GEMINI_ONCE, is_stream=False),
    "ollama, streamed": Form(OLLAMA_API, ollama_events, OLLAMA_ONCE | {"message"}),
    "ollama, whole": Form(OLLAMA_API, whole_line, OLLAMA_ONCE | {"message"}, is_stream=False),
}


def play(form: Form, events: list[Any]) -> Reply:
    builder = ReplyBuilder(form.api.assembly(), lambda kind, text: None, Redactor())
    for event in events:
        if not (form.is_stream and builder.add_texts([json.dumps(event).encode()])):
            builder.add_chunk(event)
    if form.has_end_mark:
        builder.mark_end()
    builder.mark_end_of_body()
    return builder.reply(0.1, None)


def said_by(reply: Reply) -> tuple[Any, ...]:
    """Return what a suite may judge, apart from spaces; no API numbers the calls of one step: their order is free."""
    calls = sorted((call.name, call.arguments) for call in reply.tool_calls)
    return (reply.content or "").split(), calls, reply.reasoning.split(), reply.finish


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())
    else:
        items = list(enumerate(value)) if isinstance(value, list) else []
    for key, item in items:
        yield (*path, key)
        if key not in ("args", "input") and not (key == "arguments" and isinstance(item, dict)):  # the model's own JSON
            yield from paths_in(item, (*path, key))


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def changed(value: Any, path: Path, change: Callable[[Any, Any], Any]) -> Any:
    """Return a copy of a value, with the container of the part at `path` replaced by `change(container, key)`."""
    if len(path) == 1:
        return change(value.copy(), path[0])
    copy = value.copy()
    copy[path[0]] = changed(copy[path[0]], path[1:], change)
    return copy


def set_to(new: Any) -> Callable[[Any, Any], Any]:
    def change(container: Any, key: Any) -> Any:
        container[key] = new
        return container

    return change


def dropped(container: Any, key: Any) -> Any:
    del container[key]
    return container


def misnamed(container: Any, key: Any) -> Any:
    container[f"{key}_x"] = container.pop(key)
    return container


def twice(container: Any, key: Any) -> Any:
    return [*container[: key + 1], *container[key:]]


def swapped(container: Any, key: Any) -> Any:
    container[key : key + 2] = container[key + 1], container[key]
    return container


def damages(events: Events) -> Iterator[tuple[str, Path, Any]]:
    """Yield every damage of one part: what it is, where, and the damaged events."""
    for path in paths_in(events):
        part, container = at(events, path), at(events, path[:-1])
        yield "dropped", path, changed(events, path, dropped)
        yield "null", path, changed(events, path, set_to(None))
        if isinstance(part, str | list | dict):
            if part and isinstance(container, dict):
                yield "misnamed", path, changed(events, path, misnamed)
            yield "empty", path, changed(events, path, set_to(type(part)()))
        for new in WRONG:
            if part is not None and type(new) is not type(part):
                yield f"now {new!r}", path, changed(events, path, set_to(new))
        if isinstance(container, list):
            yield "twice", path, changed(events, path, twice)
            if path[-1] + 1 < len(container):
                yield "swapped", path, changed(events, path, swapped)
        if path[-1] in WORDS and isinstance(part, str):
            yield "renamed", path, changed(events, path, set_to(f"{part}_x"))


def is_exempt(form: Form, events: Events, damage: str, path: Path, outcome: tuple[Any, ...]) -> bool:
    """Return whether what is left may be what the server meant."""
    part, fields = at(events, path), [key for key in path if isinstance(key, str)]
    if (damage[:5], fields[-1:]) == ("now {", ["arguments"]) or (damage, fields[-1:]) == ("now []", ["content"]):
        return True  # arguments as an object, and an empty list beside calls, as some servers send them
    if damage == "misnamed" and not form.is_stream:  # what is added beside an answer may have any name
        return fields[-1] in ("content", "reasoning_content", "summary", "text", "thinking", "tool_calls") and any(
            outcome[:2]
        )
    if damage not in LOSSES or not form.once:
        return False
    if not fields:
        return form.is_stream and (form.api is not ANTHROPIC_API or part.get("type") == "content_block_delta")
    if damage == "null" and fields[-1] == "delta":
        return False
    if isinstance(path[-1], int) and damage == "twice" and fields[-1] == "choices":
        return False
    return not form.once.isdisjoint(fields[-1:]) or is_block(form, damage, path, part)


def is_block(form: Form, damage: str, path: Path, part: Any) -> bool:
    """Return whether part of a whole reply is one of several that say something, each by itself."""
    if form.is_stream or not isinstance(path[-1], int) or not isinstance(part, dict):
        return False
    return damage in ("dropped", "swapped") or part.get("type") in ("text", "thinking", "output_text", "summary_text")


def made_up(chance: random.Random) -> Said:
    """Return what a model might say."""
    words = ("sunny", "żółć", "漢字", "👩‍🚀", "a: b", "\n\n", '"', "{}", "0")
    text, thoughts = (" ".join(chance.choices(words, k=chance.randint(0, 6))) for _ in range(2))
    calls = [(f"f{number}", {"a": chance.choice(words)}) for number in range(chance.randint(0, 3))]
    return Said(text if text.strip() or calls else "yes", calls, thoughts)


@pytest.mark.parametrize("name", FORMS)
def test_a_damaged_reply_is_the_same_or_a_fault(name: str, record_property: Callable[[str, object], None]) -> None:
    form = FORMS[name]
    chance = random.Random(SEED)
    replies = [*SAID, *(made_up(chance) for _ in range(10 * (BUDGET - 1)))]
    wrong: list[str] = []
    count = 0
    for said in replies:
        events = form.events(said)
        right = said_by(play(form, events))
        for damage, path, damaged in damages(events):
            if len(path) == 1 and not form.is_stream:
                continue
            count += 1
            try:
                outcome = said_by(play(form, damaged))
            except Fault:
                continue
            if outcome != right and not is_exempt(form, events, damage, path, outcome):
                wrong.append(f"{path} is {damage}: {outcome}")
    record_property("trials", count)
    record_property("wrong", len(wrong))
    assert not wrong, "\n".join(wrong)
    assert count > 100
