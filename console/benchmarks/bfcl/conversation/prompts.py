"""Builds system prompts, first messages and function documents with hints. Pure.

The texts come from a `Wording`. With the official one, messages are identical to the official ones, including oddities:
hints are repeated in format sensitivity, and no space separates persona and task in the plain layout.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc, render_docs
from console.benchmarks.bfcl.data.wording import Wording, fill
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.variation import read_variation
from console.core.chat import Message
from console.core.json_copy import copied

_LISTS = {"java": ("Array", "ArrayList"), "javascript": ("array",), "python": ()}


def with_hints(docs: Sequence[Doc], entry: Entry, wording: Wording) -> list[Doc]:
    """Return copies of the documents with the hints of their language."""
    out = [_hinted(doc, names.language_of(entry.judged_as), wording) for doc in docs]
    if entry.config:
        out = [_hinted(doc, "python", wording) for doc in out]
    return out


def system_prompt(docs: Sequence[Doc], config: str, wording: Wording) -> str:
    """Build the system prompt that describes functions (with hints) in one variation."""
    how = read_variation(config)
    style = wording.styles[how.style]
    call_form = style["tool_call_with_tag" if how.tagged else "tool_call_no_tag"]
    return fill(
        wording.layouts[how.prompt],
        persona=style["persona"],
        task=style["task"],
        tool_call_format=fill(
            call_form,
            output_format=wording.output_formats[how.returns],
            param_types=wording.param_types[how.returns],
        ),
        multiturn_behavior=style["multiturn_behavior"],
        available_tools=fill(style["available_tools"], format=how.docs, functions=render_docs(docs, how.docs)),
    )


def first_turn(entry: Entry, wording: Wording, *, prompt: str = "", memory: Any = None) -> list[Message]:
    """Build the messages of the first turn.

    Args:
        entry: the entry.
        wording: texts of the prompts.
        prompt: the system prompt of prompting mode; empty in tool mode.
        memory: the core memory of a memory entry; None if empty.
    """
    messages = copied(entry.question[0])
    if names.is_agentic(entry.id) and not names.is_prerequisite(entry.id):
        messages.insert(0, {"role": "system", "content": wording.agentic_answer})
    if names.is_memory(entry.id):
        messages = _before(messages, memory_prompt(entry, wording, memory))
    return _before(messages, prompt) if prompt else messages


def memory_prompt(entry: Entry, wording: Wording, memory: Any = None) -> str:
    """Build the instructions of a memory entry, including the core memory (None: empty)."""
    backend = names.backend_of(entry.id)
    template = wording.memory_unified if backend == "rec_sum" else wording.memory_core
    return fill(
        template,
        scenario_setting=wording.memory_settings[entry.scenario],
        memory_content=_memory_text(backend, memory, wording.memory_empty),
    )


def added_functions(docs: Sequence[Doc], wording: Wording, mode: str) -> Message:
    """Build the user message that adds withheld functions (without hints)."""
    if mode == "fc":
        return {"role": "user", "content": wording.added_functions}
    return {"role": "user", "content": fill(wording.added_functions_prompt, functions=repr(list(docs)))}


def _memory_text(backend: str, memory: Any, empty: Mapping[str, str]) -> str:
    if backend == "vector":
        return json.dumps(memory or {}, indent=4)
    if not memory:
        return empty.get(backend, "")
    return str(memory) if backend == "rec_sum" else json.dumps(memory, indent=4)


def _before(messages: list[Message], text: str) -> list[Message]:
    """Prepend a text to the leading system message, or insert one."""
    if messages and messages[0]["role"] == "system":
        first: Message = {**messages[0], "content": f"{text}\n\n{messages[0].get('content') or ''}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


def _hinted(doc: Doc, language: str, wording: Wording) -> Doc:
    out: Doc = {**doc, "description": doc.get("description", "") + wording.hints[language]}
    if language == "python":
        return out
    parameters = cast(Doc, copied(doc["parameters"]))
    for schema in cast(dict[str, Doc], parameters["properties"]).values():
        _make_textual(schema, language, wording.type_hints)
    out["parameters"] = parameters
    return out


def _make_textual(schema: Doc, language: str, hints: Mapping[str, str]) -> None:
    """Convert a typed Java or JavaScript parameter to a string parameter, with its type in the description."""
    kind = str(schema["type"])
    text = fill(hints[f"{language}_any" if kind == "any" else f"{language}_typed"], type=kind)
    if kind in _LISTS[language]:
        text += fill(hints[f"{language}_items"], type=str(cast(Doc, schema.pop("items"))["type"]))
    if language == "javascript" and kind == "dict" and "properties" in schema:
        text += fill(hints[f"{language}_entries"], type=json.dumps(schema.pop("properties")))
    schema["description"] = str(schema.get("description", "")) + text
    schema["type"] = "string"
