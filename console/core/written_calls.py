"""Tool calls that a model wrote as text: without a tool parser on the server, they do not arrive as calls. Pure."""

import re
from collections.abc import Collection

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
