"""Calls as Python statements between tags of the model's own, perhaps after a thought and in a fence."""

import ast
import warnings
from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.prompted import text_of
from console.benchmarks.bfcl.models.decode.python import Undecodable, read_call

_THOUGHT = "<|thought_start|>", "<|thought_end|>"
_CALLS = "<|tool_call_start|>", "<|tool_call_end|>"
_FENCE = "```"
NO_FILE = "/dev/null/reply"
"""Python looks for the line of a mistake in the file that a text is said to be from; there can be none of this name."""


def minicpm_calls(output: Any) -> list[Call] | str:
    """Return the calls of an answer, or its text if there are none.

    Raises:
        TypeError: it is not text.
        ValueError: a closing tag stands before the opening one.
    """
    text = text_of(output)
    if all(tag in text for tag in _THOUGHT):
        _, text = _widest(text, *_THOUGHT)
    if not all(tag in text for tag in _CALLS):
        return text.strip()
    block, text = _widest(text, *_CALLS)
    try:
        calls = [_statement(node) for node in _parse(_without_fence(block.strip())).body]
    except Exception:  # of any kind, as officially: what cannot be read is no call
        calls = []
    return calls or text.strip()


def _widest(text: str, opening: str, closing: str) -> tuple[str, str]:
    """Return what stands between the first opening and the last closing tag, and what follows."""
    start, end = text.index(opening) + len(opening), text.rindex(closing)
    if end < start:
        raise ValueError(f"{closing} before {opening}")
    return text[start:end], text[end + len(closing) :]


def _without_fence(text: str) -> str:
    if text.startswith(_FENCE):
        text = text.lstrip("`").strip()
        if text.startswith("python"):
            text = text.lstrip("python").strip()
    return text.rstrip("`").strip() if text.endswith(_FENCE) else text


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, NO_FILE)


def _statement(node: ast.stmt) -> Call:
    value = getattr(node, "value", None)
    if not isinstance(value, ast.Call):
        raise Undecodable("a statement that is no call")
    return read_call(value)
