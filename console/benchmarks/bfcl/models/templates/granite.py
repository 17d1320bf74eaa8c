"""Granite 4, 3 and 20b, and Phi-4-mini with tools; the last and Granite 3 write a JSON list of calls after a tag."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.data.tools import native_tools
from console.benchmarks.bfcl.models.decode.length import LONGEST
from console.benchmarks.bfcl.models.templates.tagged_calls import read_calls, write_calls
from console.benchmarks.bfcl.models.templates.template import (
    Completion,
    PromptInput,
    Template,
    TemplateError,
    json_lines,
    runs_of_tools,
)
from console.core.xml_tags import contents_between

_PHI_OPEN = re.compile(r"<\|tool_call\|>(.*?)(?:<\|/tool_call\|>)?$", re.DOTALL)
_LETTERS = "AINST:"
"""Stripped characters; the official code meant to strip a prefix."""
_KEYS = {"name", "arguments"}


def read_phi(text: str) -> Completion:
    """Parse blocks between `<|tool_call|>` tags; the last tag may be missing."""
    return _completion(text, list(contents_between(text, "<|tool_call|>", "<|/tool_call|>")) or _PHI_OPEN.findall(text))


def read_granite(text: str) -> Completion:
    """Parse the text after `<tool_call>` or `<|tool_call|>`, stripping leading letters of `ASSISTANT:`."""
    stripped = text.lstrip(_LETTERS).lstrip()
    if "<tool_call>" in stripped:
        _, marked, block = stripped.replace("</tool_call>", "").partition("<tool_call>")
    else:
        _, marked, block = stripped.partition("<|tool_call|>")
    return _completion(text, [block.strip()] if marked else [])


def _completion(text: str, blocks: Sequence[str]) -> Completion:
    """Return the blocks as calls if each is exactly a name with arguments; none if the text is too long to decode."""
    blocks = blocks if sum(map(len, blocks)) <= LONGEST else []
    calls = [item for block in blocks for item in _items(block)]
    right = bool(calls) and all(isinstance(item, dict) and set(cast(Any, item)) == _KEYS for item in calls)
    output = [{item["name"]: item["arguments"]} for item in calls] if right else text
    return Completion(output, {"role": "assistant", "content": text})


def _items(block: str) -> list[Any]:
    if not block.startswith("[") and not block.endswith("]"):
        block = f"[{block}]"
    try:
        value = json.loads(block)
    except json.JSONDecodeError:
        return [block]
    except (RecursionError, ValueError) as error:
        raise TemplateError(
            "a list of calls is nested too deeply, or contains a number with too many digits"
        ) from error
    if not isinstance(value, list):
        return [value]
    return [_literal(item) if isinstance(item, str) else item for item in cast(list[Any], value)]


def _literal(text: str) -> Any:
    """Parse a Python literal (the official code uses `eval`)."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise TemplateError(f"an item of a list of calls is a string that is not a literal: {error}") from error


def _block(role: str, content: object) -> str:
    return f"<|start_of_role|>{role}<|end_of_role|>{content}<|end_of_text|>\n"


def _granite_4(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("granite_4", "Granite4FCHandler._format_prompt")
    tools = f"{texts[0]}{json_lines(inputs.docs)}{texts[1]}" if inputs.docs else ""
    parts = [part for part in (inputs.system, tools) if part]
    yield _block("system", "\n\n".join(parts) if parts else "" if inputs.system is not None else texts[2])
    for message, begins, ends in runs_of_tools(inputs.after_system):
        role, content = message["role"], message["content"]
        if role in ("user", "system"):
            yield _block(role, content)
        elif role == "assistant":
            yield _block(role, content + "".join(write_calls(message)))
        elif role == "tool":
            opening = "<|start_of_role|>user<|end_of_role|>" if begins else ""
            yield f"{opening}\n<tool_response>\n{content}\n</tool_response>" + ("<|end_of_text|>\n" if ends else "")
    yield "<|start_of_role|>assistant<|end_of_role|>"


def _granite_3(inputs: PromptInput) -> Iterator[str]:
    """Yield nothing: the prompt ends with the last message, as in the official code."""
    texts = inputs.texts.of("granite_3", "Granite3FCHandler._format_prompt")
    own = texts[4] + (texts[5] if inputs.docs else "") if inputs.system is None else inputs.system
    yield _block("system", own)
    if inputs.docs:
        yield _block("tools", json.dumps(inputs.docs, indent=4))
    for message in inputs.after_system:
        yield _block(message["role"], message["content"])


def _granite_20b(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("granite", "GraniteFunctionCallingHandler._format_prompt")
    tools = "\n".join(json.dumps(tool["function"]) for tool in native_tools(inputs.docs))
    yield texts[0].replace("{functions_str}", tools)
    for message in inputs.messages:
        yield f"{message['role'].upper()}:\n{message['content']}\n\n"
    yield "ASSISTANT: "


def _phi_native(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("phi_fc", "PhiFCHandler._format_prompt")
    own = texts[2] if inputs.system is None else inputs.system
    docs = "".join(f"{json.dumps(doc)}\n" for doc in inputs.docs)
    yield f"<|system|>{own}<|tool|>{docs}<|/tool|><|end|>"
    for message in inputs.after_system:
        yield f"<|{message['role']}|>{message['content']}<|end|>"
    yield "<|assistant|>"


GRANITE_4 = Template(_granite_4, read=read_calls)
GRANITE_3 = Template(_granite_3, read=read_granite)
GRANITE_20B = Template(_granite_20b)
PHI_NATIVE = Template(_phi_native, read=read_phi)
