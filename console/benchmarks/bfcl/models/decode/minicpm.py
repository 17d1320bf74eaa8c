"""Decoder for MiniCPM: Python statements between tags, optionally after a thought and in a code fence."""

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
"""Nonexistent file name for parsing, as Python reads the named file to report syntax errors."""


def minicpm_calls(output: Any) -> list[Call] | str:
    """Return the calls of an answer, or its text without calls.

    Raises:
        TypeError: not a string.
        ValueError: a closing tag before the opening one.
    """
    text = text_of(output)
    if all(tag in text for tag in _THOUGHT):
        _, text = _widest(text, *_THOUGHT)
    if not all(tag in text for tag in _CALLS):
        return text.strip()
    block, text = _widest(text, *_CALLS)
    try:
        calls = [_statement(node) for node in _parse(_without_fence(block.strip())).body]
    except Exception:  # any exception, as in the official code: text that cannot be parsed is not a call
        calls = []
    return calls or text.strip()


def _widest(text: str, opening: str, closing: str) -> tuple[str, str]:
    """Return the text between the first opening and last closing tag, and the rest."""
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
        raise Undecodable("a statement that is not a call")
    return read_call(value)
