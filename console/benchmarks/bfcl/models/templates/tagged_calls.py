"""Parsing and rendering of calls between `<tool_call>` tags."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.length import LONGEST
from console.benchmarks.bfcl.models.templates.template import Completion, TemplateError, Turn
from console.core.xml_tags import contents_between

_MARKS = "<tool_call>\n", "\n</tool_call>"


def _blocks(text: str) -> list[str]:
    """Return the contents of all tagged blocks; none if they are too long to decode."""
    blocks = list(contents_between(text, *_MARKS))
    return blocks if sum(map(len, blocks)) <= LONGEST else []


def tagged_json(text: str) -> list[Any]:
    """Return the JSON values of all tagged blocks, dropping invalid ones."""
    values: list[Any] = []
    for block in _blocks(text):
        try:
            values.append(json.loads(block))
        except (ValueError, RecursionError):
            continue
    return values


def tagged_blocks(text: str) -> list[Any]:
    """Return the JSON values of all tagged blocks; invalid ones stay strings."""
    values: list[Any] = []
    for block in _blocks(text):
        try:
            values.append(json.loads(block))
        except (ValueError, RecursionError):
            values.append(block)
    return values


def split_thought(text: str) -> tuple[str, str]:
    """Return the thought (before the first `</think>`) and the answer (after the last)."""
    if "</think>" not in text:
        return "", text
    parts = text.split("</think>")
    return parts[0].rstrip("\n").split("<think>")[-1].lstrip("\n"), parts[-1].lstrip("\n")


def read_thinking_calls(text: str) -> Completion:
    """Parse a completion in the Qwen format; calls count anywhere, even inside the thought."""
    reasoning, answer = split_thought(text)
    calls = tagged_json(text)
    message: Turn = {"role": "assistant", "content": "" if calls else answer, "reasoning": reasoning}
    return Completion(answer, message | ({"calls": calls} if calls else {}), reasoning)


def read_calls(text: str) -> Completion:
    """Parse a completion whose history message contains either its calls or its text."""
    calls = tagged_json(text)
    message: Turn = {"role": "assistant", "content": "" if calls else text}
    return Completion(text, message | ({"calls": calls} if calls else {}))


def write_calls(message: Turn, ascii_only: bool = True, separate: bool = True) -> Iterator[str]:
    """Yield the calls of an answer as tagged blocks.

    Args:
        message: the message with `calls`.
        ascii_only: escape non-ASCII characters in arguments.
        separate: put a newline between blocks, and between a text and the first block.

    Raises:
        TemplateError: a call without name or arguments.
    """
    calls = cast(Sequence[Any], message.get("calls", ()))
    for call in calls:
        name, arguments = named_call(call)
        if separate and (call != calls[0] or message["content"]):
            yield "\n"
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=ascii_only)
        yield f'<tool_call>\n{{"name": "{name}", "arguments": {written}}}\n</tool_call>'


def named_call(call: Any) -> tuple[str, Any]:
    """Return the name and arguments of a parsed call, or of the function inside it.

    Raises:
        TemplateError: it is not a call.
    """
    try:
        inner: Any = call.get("function", call)
        return inner["name"], inner["arguments"]
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise TemplateError(f"a call without name or arguments cannot be rendered: {error}") from error
