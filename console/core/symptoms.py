"""Symptoms of a misconfigured server in a model's replies: calls, thoughts or special tokens left in the text. Pure.

They look like a weak model. The verdict stays that of the rules; the run warns about its server.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from console.core.chat import Reply
from console.core.json_text import read_json
from console.core.record import ENCODED_TWICE, ONLY_THOUGHTS, REPEATED, SPECIAL_TOKENS, THOUGHTS, UNREAD_TOOLS

_MARKS = (
    "<tool_call>",
    "[TOOL_CALLS]",
    "<|tool_call|>",
    "<|python_tag|>",
    "<｜tool▁calls▁begin｜>",
    "<function=",
    "<function_call>",
    "<|tool_calls_section_begin|>",
)
_FENCE = "```json"
_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis": "<|channel|>final",
}
"""Marks around thoughts; a text may contain only the closing one, since templates end with the opening one."""
_SPECIAL = re.compile(
    r"<\|[A-Za-z][\w ]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|<(?:end|start)_of_turn>|</s>\s*\Z|\[/?INST\]|</tool_call>"
)
_WORD = re.compile(r"[^\W\d_]+")


class Symptoms:
    """Symptoms in the replies of one conversation."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}
        self._has_called = False

    def add(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], reply: Reply) -> None:
        self._has_called = self._has_called or bool(reply.tool_calls)
        self._found |= dict.fromkeys(symptoms_in(messages, tools, reply))

    def __str__(self) -> str:
        """Return the symptoms, joined by `; `; tools that were called have been read."""
        return "; ".join(name for name in self._found if name != UNREAD_TOOLS or not self._has_called)


def symptoms_in(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], reply: Reply
) -> Iterator[str]:
    """Yield the symptoms in a reply; marks that its request contains were asked for, so they are none."""
    if any(message.get("role") == "prompt" for message in messages):
        return  # the suite has built the whole prompt, and reads the marks of its template
    yield from _in_text(messages, tools, reply)
    if REPEATED in reply.flags:
        yield REPEATED
    for call in reply.tool_calls:
        if (token := special_token(call.name + call.arguments)) and not _is_in(messages, token):
            yield SPECIAL_TOKENS
        elif is_encoded_twice(call.arguments):
            yield ENCODED_TWICE


def _in_text(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], reply: Reply) -> Iterator[str]:
    text = reply.content or ""
    notation = written_call(text, [_name_of(tool) for tool in tools]) if tools and not reply.tool_calls else ""
    if notation:
        yield notation
    if (thoughts := thoughts_mark(text)) and not _is_in(messages, thoughts):
        yield THOUGHTS
    elif not notation and (token := special_token(text)) and not _is_in(messages, token):
        yield SPECIAL_TOKENS
    if reply.reasoning.strip() and not text.strip() and not reply.tool_calls and reply.finish == "stop":
        yield ONLY_THOUGHTS
    sent = reply.usage.input if reply.usage is not None else 0
    if tools and sent and not (reply.tool_calls or notation) and sent < fewest_tokens(messages, tools):
        yield UNREAD_TOOLS


def written_call(text: str, tools: Collection[str]) -> str:
    """Return the notation in which a text contains a tool call, such as `<tool_call>`; empty if it contains none."""
    if not text or not any(name in text for name in tools):
        return ""
    mark = next((mark for mark in _MARKS if mark in text), "")
    names = "|".join(re.escape(name) for name in tools)
    if mark:
        return mark
    if re.search(rf'"(?:name|function|tool)"\s*:\s*"(?:{names})"', text):
        return _FENCE if _FENCE in text else "JSON"
    return "Python" if re.search(rf"^\s*(?:```\w*\s*)?\[?\s*(?:{names})\(\s*\w+\s*=", text) else ""


def thoughts_mark(text: str) -> str:
    """Return the opening mark of thoughts in a text, such as `<think>`; empty if there are none."""
    if not ("<" in text or "[" in text or "◁" in text):
        return ""  # the usual case
    start = text.lstrip()
    return next((begin for begin, end in _THOUGHTS.items() if start.startswith(begin) or end in text), "")


def special_token(text: str) -> str:
    """Return the first special token of a template in a text, such as `<|im_end|>`; empty if there is none."""
    match = _SPECIAL.search(text)
    return match[0] if match is not None else ""


def is_encoded_twice(arguments: str) -> bool:
    """Return whether arguments are a JSON string that contains the JSON of an object."""
    if arguments.lstrip()[:1] != '"':
        return False
    try:
        inner = read_json(arguments)
        return isinstance(inner, str) and isinstance(read_json(inner), dict)
    except ValueError:
        return False


def fewest_tokens(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> int:
    """Return a lower bound for the tokens of a request: its words, since no token spans two of them.

    Of the tools, only the names and descriptions of functions and parameters count, in whatever format they are sent.
    """
    texts = [json.dumps(message.get("content") or "", ensure_ascii=False) for message in messages]
    return sum(len(_WORD.findall(text)) for text in [*texts, *_words_of(tools)])


def _words_of(schema: Any) -> Iterator[str]:
    """Yield the names and descriptions in the schemas of tools."""
    if isinstance(schema, list | tuple):
        for item in cast("Sequence[Any]", schema):
            yield from _words_of(item)
    elif isinstance(schema, dict):
        for key, value in cast("dict[str, Any]", schema).items():
            if key in ("name", "description") and isinstance(value, str):
                yield value
            elif key == "properties" and isinstance(value, dict):
                yield from cast("dict[str, Any]", value)
                yield from _words_of(list(cast("dict[str, Any]", value).values()))
            elif key in ("function", "parameters", "input_schema", "items"):
                yield from _words_of(value)


def _is_in(messages: Sequence[Mapping[str, Any]], mark: str) -> bool:
    asking = (message for message in messages if message.get("role") != "assistant")
    return any(mark in json.dumps(message, ensure_ascii=False) for message in asking)


def _name_of(tool: Mapping[str, Any]) -> str:
    """Return the name of a tool, in the format of chat or another API."""
    function: Any = tool.get("function", tool)
    return str(cast("dict[str, Any]", function).get("name", "")) if isinstance(function, dict) else ""
