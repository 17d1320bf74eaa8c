"""Ministral: tools before the last question; calls and results are linked by ids."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.decode.length import LONGEST
from console.benchmarks.bfcl.models.templates.template import (
    Completion,
    PromptInput,
    Template,
    TemplateError,
    Turn,
    as_text,
)


def _render(inputs: PromptInput) -> Iterator[str]:
    """Yield the prompt. Ids are numbered, not random as in the official code, so that a resumed run repeats them."""
    messages = inputs.after_system
    questions = [message for message in messages if message["role"] == "user"]
    numbers, waiting = count(1), list[str]()
    yield "<s>"
    for index, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role == "user":
            tools = _tools(inputs.docs) if inputs.docs and message == questions[-1] else ""
            own = f"{inputs.system}\n\n" if inputs.system and index == len(messages) - 1 else ""
            yield f"{tools}[INST]{own}{content}[/INST]"
        elif role == "assistant" and "calls" in message:
            waiting = [f"id{next(numbers):07}" for _ in message["calls"]]
            calls = [{**call, "id": identifier} for call, identifier in zip(message["calls"], waiting, strict=True)]
            yield f"[TOOL_CALLS]{json.dumps(calls)}</s>"
        elif role == "assistant":
            yield f"{content}</s>"
        elif role == "tool":
            shown = json.dumps({"content": content, "call_id": waiting.pop(0)})
            yield f"[TOOL_RESULTS]{shown}[/TOOL_RESULTS]"


def _tools(docs: Sequence[Doc]) -> str:
    """Return the documents as one list; strings are quoted but not escaped, as in the official code."""
    return f"[AVAILABLE_TOOLS][{', '.join(map(_tool, docs))}][/AVAILABLE_TOOLS]"


def _tool(doc: Doc) -> str:
    parts = [
        f'"{key}": "{value}"' if isinstance(value, str) else f'"{key}": {json.dumps(value)}'
        for key, value in doc.items()
        if key != "return"
    ]
    return '{"type": "function", "function": {' + ", ".join(parts) + "}}"


def _read(text: str) -> Completion:
    if len(text) > LONGEST:
        return as_text(text)
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return Completion(text, {"role": "assistant", "content": text})
    except (RecursionError, ValueError) as error:
        raise TemplateError("the answer is nested too deeply, or has a number with too many digits") from error
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in cast(list[Any], value)):
        raise TemplateError("the answer is JSON, but not a list of objects")
    calls = cast(list[dict[str, Any]], value)
    try:
        output = [{call["name"]: call["arguments"]} for call in calls]
    except (KeyError, TypeError) as error:
        raise TemplateError(f"a call has no name or arguments: {error}") from error
    return Completion(output, {"role": "assistant", "content": None, "calls": calls})


def _show_results(calls: Sequence[str], results: Sequence[str], answer: Turn) -> list[Turn]:
    del calls
    return [{"role": "tool", "content": text} for text, _ in zip(results, answer.get("calls", ()), strict=False)]


MINISTRAL = Template(_render, read=_read, show_results=_show_results)
