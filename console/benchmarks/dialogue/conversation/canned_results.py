"""What tools give back: results that the row holds, by name and arguments; a call that fits none gets a tool error."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from console.benchmarks.dialogue.rules.answer import read_arguments
from console.benchmarks.dialogue.rules.row import CannedResult


class ToolAnswer(NamedTuple):
    """What one call gets back."""

    text: str
    is_known: bool = True
    """Whether the row holds a result for it."""


def answer_call(name: str, written: str, results: Sequence[CannedResult]) -> ToolAnswer:
    """Return what a call gets back: the first result that fits.

    Args:
        name: the called tool.
        written: its arguments as the model wrote them.
        results: those of the row.
    """
    arguments = read_arguments(written)
    if arguments is None:
        return ToolAnswer(_error("the arguments are not a JSON object"))
    for canned in results:
        if canned.tool == name and _fits(canned.arguments, arguments):
            return ToolAnswer(_error(canned.error) if canned.error else _text(canned.result))
    return ToolAnswer(_error(f"no result is known for this call of {name}"), is_known=False)


def _fits(needed: dict[str, Any], arguments: dict[str, Any]) -> bool:
    return all(name in arguments and _equal(arguments[name], value) for name, value in needed.items())


def _equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same; true is not 1, but 1.0 is."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        lefts, rights = cast(list[Any], left), cast(list[Any], right)
        return len(lefts) == len(rights) and all(map(_equal, lefts, rights))
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = cast(dict[str, Any], left), cast(dict[str, Any], right)
        return ours.keys() == theirs.keys() and all(_equal(ours[key], theirs[key]) for key in ours)
    return bool(left == right)


def _text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def _error(message: str) -> str:
    return json.dumps({"error": message}, ensure_ascii=False)
