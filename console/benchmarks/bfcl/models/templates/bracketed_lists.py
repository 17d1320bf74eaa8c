"""A JSON list of calls behind a mark, as Phi-4-mini and Granite 3 write it."""

import ast
import json
import re
from collections.abc import Sequence
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.length import LONGEST
from console.benchmarks.bfcl.models.templates.template import Completion, TemplateError
from console.core.xml_tags import contents_between

_PHI_OPEN = re.compile(r"<\|tool_call\|>(.*?)(?:<\|/tool_call\|>)?$", re.DOTALL)
_LETTERS = "AINST:"
"""Officially a prefix was meant; its letters are dropped."""
_KEYS = {"name", "arguments"}


def read_phi(text: str) -> Completion:
    """Read blocks between `<|tool_call|>` marks; the last mark may be missing."""
    return _completion(text, list(contents_between(text, "<|tool_call|>", "<|/tool_call|>")) or _PHI_OPEN.findall(text))


def read_granite(text: str) -> Completion:
    """Read what follows `<tool_call>`, or `<|tool_call|>`; letters of `ASSISTANT:` in front are dropped."""
    stripped = text.lstrip(_LETTERS).lstrip()
    if "<tool_call>" in stripped:
        _, marked, block = stripped.replace("</tool_call>", "").partition("<tool_call>")
    else:
        _, marked, block = stripped.partition("<|tool_call|>")
    return _completion(text, [block.strip()] if marked else [])


def _completion(text: str, blocks: Sequence[str]) -> Completion:
    """Take the blocks as calls when every item is exactly a name with arguments; none when longer than is decoded."""
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
        raise TemplateError("a list of calls is nested too deeply, or holds a number of too many digits") from error
    if not isinstance(value, list):
        return [value]
    return [_literal(item) if isinstance(item, str) else item for item in cast(list[Any], value)]


def _literal(text: str) -> Any:
    """Return a Python literal; officially the text is evaluated."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise TemplateError(f"an item of a list of calls is a text that is no literal: {error}") from error
