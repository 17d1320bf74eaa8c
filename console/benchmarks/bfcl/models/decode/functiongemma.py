"""Decoder for FunctionGemma's notation: `call:name{key:<escape>text<escape>,other:5}` between tags.

Malformed calls are parsed character by character by the official rules: brackets are not matched, and a value in place
of a key becomes a key if a colon follows.
"""

import re
from collections.abc import Callable
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.call_text import Call
from console.benchmarks.bfcl.models.decode.prompted import text_of
from console.benchmarks.bfcl.models.decode.tags import all_between

_ESCAPE = "<escape>"
_MARK = re.compile(r"<escape>|[{}\[\]:,]")
_CONSTANTS: dict[str, Any] = {"null": None, "true": True, "false": False}
_NUMBERS: tuple[Callable[[str], Any], ...] = (int, float)


def functiongemma_calls(output: Any) -> list[Call]:
    """Return the calls between the tags of an answer.

    Raises:
        TypeError: not a string.
    """
    blocks = (text.strip() for text in all_between(text_of(output), "<start_function_call>", "<end_function_call>"))
    return [_call(block.removeprefix("call:")) for block in blocks if block.startswith("call:")]


def _call(text: str) -> Call:
    name, brace, rest = text.partition("{")
    return {name.strip(): _Arguments().read(brace + rest) if brace else {}}


class _Arguments:
    """Parser state: open containers, and the pending key of each object."""

    def __init__(self) -> None:
        self._root: list[Any] = []
        self._open: list[Any] = [self._root]
        self._keys: list[str | None] = []
        self._candidate: Any = None
        """A value in place of a key."""

    def read(self, text: str) -> dict[str, Any]:
        """Return the object at the start of a text, or an empty one."""
        position = 0
        while mark := _MARK.search(text, position):
            self._bare(text[position : mark.start()])
            position = mark.end()
            if mark[0] == _ESCAPE:
                end = text.find(_ESCAPE, position)
                self._add(text[position:end] if end >= 0 else text[mark.start() :])
                position = end + len(_ESCAPE) if end >= 0 else len(text)
            else:
                self._mark(mark[0])
        self._bare(text[position:])
        first = self._root[0] if self._root else None
        return cast(dict[str, Any], first) if isinstance(first, dict) else {}

    def _mark(self, mark: str) -> None:
        match mark:
            case "{" | "[":
                container: Any = {} if mark == "{" else []
                self._add(container)
                self._open.append(container)
                if mark == "{":
                    self._keys.append(None)
            case "}" | "]":
                if len(self._open) > 1:
                    self._open.pop()
                if mark == "}" and self._keys:
                    self._keys.pop()
            case ":":
                if self._keys and self._candidate is not None:
                    self._keys[-1] = str(self._candidate)
            case _:
                pass
        self._candidate = None

    def _bare(self, token: str) -> None:
        token = token.strip()
        if token:
            self._add(_bare_value(token))

    def _add(self, value: Any) -> None:
        container = self._open[-1]
        if isinstance(container, list):
            cast(list[Any], container).append(value)
        elif self._keys and self._keys[-1] is not None:
            container[self._keys[-1]] = value
            self._keys[-1] = None
        else:
            self._candidate = value


def _bare_value(token: str) -> Any:
    if token in _CONSTANTS:
        return _CONSTANTS[token]
    for number in _NUMBERS:
        try:
            return number(token)
        except ValueError:
            continue
    return token
