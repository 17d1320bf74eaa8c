"""Ministral: tools before the last question, calls and results named by identifiers."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from console.suites.bfcl.rendering import Doc
from console.suites.bfcl.templates.template import Completion, PromptInput, Template, TemplateError, Turn


def _render(given: PromptInput) -> Iterator[str]:
    messages = given.after_system
    questions = [message for message in messages if message["role"] == "user"]
    yield "<s>"
    for index, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role == "user":
            tools = _tools(given.docs) if given.docs and message == questions[-1] else ""
            own = f"{given.system}\n\n" if given.system and index == len(messages) - 1 else ""
            yield f"{tools}[INST]{own}{content}[/INST]"
        elif role == "assistant":
            yield f"{content}</s>"
        elif role == "tool":
            shown = json.dumps({"content": content, "call_id": message["id"]})
            yield f"[TOOL_RESULTS]{shown}[/TOOL_RESULTS]"


def _tools(docs: Sequence[Doc]) -> str:
    """Return the documents as one list; texts stand between quotes as they are, unescaped."""
    return f"[AVAILABLE_TOOLS][{', '.join(map(_tool, docs))}][/AVAILABLE_TOOLS]"


def _tool(doc: Doc) -> str:
    parts = [
        f'"{key}": "{value}"' if isinstance(value, str) else f'"{key}": {json.dumps(value)}'
        for key, value in doc.items()
        if key != "return"
    ]
    return '{"type": "function", "function": {' + ", ".join(parts) + "}}"


def _read(text: str) -> Completion:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return Completion(text, {"role": "assistant", "content": text})
    except RecursionError as error:
        raise TemplateError("the answer is nested too deeply") from error
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in cast(list[Any], value)):
        raise TemplateError("the answer is JSON, but no list of objects")
    calls = cast(list[dict[str, Any]], value)
    identified = [{**call, "id": _identifier(text, index)} for index, call in enumerate(calls)]
    try:
        output = [{call["name"]: call["arguments"]} for call in calls]
    except (KeyError, TypeError) as error:
        raise TemplateError(f"a call has no name or arguments: {error}") from error
    message: Turn = {"role": "assistant", "content": f"[TOOL_CALLS]{json.dumps(identified)}"}
    return Completion(output, message | {"ids": [call["id"] for call in identified]})


def _identifier(text: str, index: int) -> str:
    """Return nine characters; officially they are random, here they follow the answer, so that a resume finds them."""
    return hashlib.sha256(f"{index}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:9]


def _show_results(calls: Sequence[str], results: Sequence[str], answer: Turn) -> list[Turn]:
    del calls
    pairs = zip(results, answer.get("ids", ()), strict=False)
    return [{"role": "tool", "id": identifier, "content": text} for text, identifier in pairs]


MINISTRAL = Template(_render, read=_read, show_results=_show_results)
