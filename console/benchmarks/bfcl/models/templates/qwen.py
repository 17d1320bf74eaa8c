"""The Qwen format: `<|im_start|>role`, thoughts kept for the current question only, calls and results between tags.

Qwen3 (prompting and native), Nanbeige, Arch and Pelican.
"""

import ast
import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.models.templates.tagged_calls import (
    read_thinking_calls,
    split_thought,
    tagged_blocks,
    write_calls,
)
from console.benchmarks.bfcl.models.templates.template import (
    Completion,
    PromptInput,
    Template,
    TemplateError,
    Turn,
    json_lines,
    runs_of_tools,
)

_TAIL = "<|im_start|>assistant\n"


def block(role: str, content: object) -> str:
    """Format one message."""
    return f"<|im_start|>{role}\n{content}<|im_end|>\n"


def results(message: Turn, begins: bool, ends: bool) -> str:
    """Format a tool message; consecutive ones share one user block."""
    opening = "<|im_start|>user" if begins else ""
    return f"{opening}\n<tool_response>\n{message['content']}\n</tool_response>" + ("<|im_end|>\n" if ends else "")


def _qwen(inputs: PromptInput) -> Iterator[str]:
    if inputs.system is not None:
        yield block("system", inputs.system)
    yield from _conversation(inputs.messages)


def _qwen_native(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("qwen_fc", "QwenFCHandler._format_prompt")
    if inputs.docs:
        own = "" if inputs.system is None else f"{inputs.system}\n\n"
        yield f"<|im_start|>system\n{own}{texts[6]}{json_lines(inputs.docs)}{texts[8]}"
    elif inputs.system is not None:
        yield block("system", inputs.system)
    yield from _conversation(inputs.messages)


def _nanbeige(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("nanbeige_fc", "NanbeigeFCHandler._format_prompt")
    if inputs.docs:
        own = texts[6] if inputs.system is None else f"{inputs.system}\n\n"
        yield f"<|im_start|>system\n{own}{texts[7]}{json_lines(inputs.docs)}{texts[9]}"
    else:
        yield texts[15] if inputs.system is None else block("system", inputs.system)
    yield from _conversation(inputs.messages)


def _conversation(messages: Sequence[Turn]) -> Iterator[str]:
    last_question = _last_question(messages)
    for index, (message, begins, ends) in enumerate(runs_of_tools(messages)):
        role = message["role"]
        if role == "user" or (role == "system" and index):
            yield block(role, message["content"])
        elif role == "assistant":
            yield _answer(message, index > last_question, index == len(messages) - 1)
        elif role == "tool":
            yield results(message, begins, ends)
    yield _TAIL


def _last_question(messages: Sequence[Turn]) -> int:
    """Return the index of the last user message that is not a wrapped result, or the last index."""
    for index in range(len(messages) - 1, -1, -1):
        content = messages[index]["content"]
        wrapped = str(content).startswith("<tool_response>") and str(content).endswith("</tool_response>")
        if messages[index]["role"] == "user" and isinstance(content, str) and not wrapped:
            return index
    return len(messages) - 1


def _answer(message: Turn, current: bool, last: bool) -> str:
    content, reasoning = message["content"], message.get("reasoning", "")
    if not reasoning:
        reasoning, content = split_thought(content)
    calls = "".join(write_calls({**message, "content": content}))
    if current and (last or reasoning):
        stripped = reasoning.strip("\n")
        content = f"<think>\n{stripped}\n</think>\n\n" + content.lstrip("\n")
    return f"<|im_start|>assistant\n{content}{calls}<|im_end|>\n"


def _read_thought(text: str) -> Completion:
    reasoning, answer = split_thought(text)
    return Completion(answer, {"role": "assistant", "content": answer, "reasoning": reasoning}, reasoning)


def _pelican(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("pelican_vl_fc", "PelicanVLFCHandler._format_prompt")
    if inputs.docs:
        own = "" if inputs.system is None else f"{inputs.system}\n\n"
        tools = f"{texts[6]}{texts[7]}\n<tools>{json_lines(inputs.docs)}\n</tools>{texts[11]}{texts[12]}"
        yield block("system", own + tools)
    else:
        yield texts[21] if inputs.system is None else block("system", inputs.system)
    for message in inputs.after_system:
        content = message["content"]
        if message["role"] == "tool":
            content = f"<tool_response>\n{content}\n</tool_response>"
        elif message["role"] == "assistant":
            content = "".join(write_calls(message, ascii_only=False, separate=False)) + (content or "")
        elif message["role"] != "user":
            content = ""
        yield block(message["role"], content)
    yield _TAIL


def _arch(inputs: PromptInput) -> Iterator[str]:
    texts = inputs.texts.of("arch", "ArchHandler._format_prompt")
    own = texts[4] if inputs.system is None else inputs.system
    if inputs.docs:
        yield f"<|im_start|>system\n{own}{texts[6]}{json_lines(inputs.docs)}{texts[8]}"
    else:
        yield block("system", own)
    for index, (message, begins, ends) in enumerate(runs_of_tools(inputs.messages)):
        if message["role"] == "tool":
            yield results(message, begins, ends)
        elif message.get("calls"):
            yield f"<|im_start|>assistant{''.join(map(_arch_call, message['calls']))}<|im_end|>\n"
        elif message["role"] != "system" or index:
            yield block(message["role"], message["content"])
    yield _TAIL


def _arch_call(call: Any) -> str:
    if not isinstance(call, dict):
        raise TemplateError("a call that is not a JSON object cannot be resent")
    inner = cast(dict[str, Any], call)
    inner = cast(dict[str, Any], inner.get("function", inner))
    arguments = json.dumps(inner.get("arguments", {}))
    return f'\n<tool_call>\n{{"name": "{inner.get("name", "")}", "arguments": {arguments}}}\n</tool_call>'


def _read_arch(text: str) -> Completion:
    blocks = tagged_blocks(text)
    if not blocks:
        return Completion(text, {"role": "assistant", "content": text})
    output: list[dict[str, Any]] = []
    for part in blocks:
        call = _literal(part) if isinstance(part, str) else part
        try:
            output.append({call["name"]: call["arguments"]})
        except (KeyError, TypeError, IndexError) as error:
            raise TemplateError(f"a tagged block is not a call: {error}") from error
    return Completion(output, {"role": "assistant", "content": None, "calls": blocks})


def _literal(text: str) -> Any:
    """Parse a Python literal (the official code uses `eval`)."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise TemplateError(f"a tagged block is neither JSON nor a literal: {error}") from error


QWEN = Template(_qwen, described_in_prompt=True, read=_read_thought)
QWEN_NATIVE = Template(_qwen_native, read=read_thinking_calls)
NANBEIGE = Template(_nanbeige, read=read_thinking_calls)
PELICAN = Template(_pelican, read=read_thinking_calls)
ARCH = Template(_arch, read=_read_arch)
