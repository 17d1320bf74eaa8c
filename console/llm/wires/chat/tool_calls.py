"""Native tool calls, collected from the deltas in which servers stream them.

The arguments stay the text that the model wrote, right or wrong: judging is the suite's affair. Only the frame around
them is made regular — missing numbers, missing ids, an object where a text belongs.
"""

import json
from dataclasses import dataclass, field
from typing import Any, cast


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


class CallCollector:
    """Collects the tool calls of one reply."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self.flags: set[str] = set()

    def add_deltas(self, deltas: object) -> str:
        """Add the `tool_calls` of a delta or a message; return the new text for watchers."""
        if not isinstance(deltas, list):
            self.flags.add("tool_calls is no list")
            return ""
        return "".join(self._add_delta(delta) for delta in cast(list[Any], deltas))

    def add_function_call(self, function: object) -> str:
        """Add a `function_call`, the older form that some servers still use."""
        return self._add_delta({"index": 0, "function": function})

    def _add_delta(self, delta: object) -> str:
        if not isinstance(delta, dict):
            self.flags.add("a tool call is no object")
            return ""
        fields = cast(dict[str, Any], delta)
        inner = fields.get("function")
        function = cast(dict[str, Any], inner) if isinstance(inner, dict) else {}
        identity, name = _text(fields.get("id")), _text(function.get("name"))
        call, is_new = self._find_or_begin(fields.get("index"), identity, name)
        call.id = call.id or identity
        if name and name != call.name:
            call.name += name
        piece = _arguments(function.get("arguments"))
        if piece:
            call.arguments.append(piece)
        return (("\n" if len(self._calls) > 1 else "") + name + " " if is_new else "") + piece

    def _find_or_begin(self, index: object, identity: str, name: str) -> tuple[_Call, bool]:
        """Find the call that a delta continues, or begin one."""
        if isinstance(index, int) and not isinstance(index, bool):
            call = self._by_index.get(index)
            # Some servers number every call 0 and tell them apart by id alone.
            if call is not None and not (identity and call.id and identity != call.id and name):
                return call, False
            self._by_index[index] = call = self._begin()
            return call, True
        call = next((call for call in self._calls if identity and call.id == identity), None)
        if call is not None:
            return call, False
        if self._calls and not identity and not name:
            return self._calls[-1], False
        return self._begin(), True

    def _begin(self) -> _Call:
        call = _Call()
        self._calls.append(call)
        return call

    def calls(self) -> list[dict[str, str]]:
        """Return the calls; one without an id gets its number for one, because the answer to it must name it."""
        if any(not call.name for call in self._calls):
            self.flags.add("a tool call has no name")
        return [
            {"id": call.id or f"call_{number}", "name": call.name, "arguments": "".join(call.arguments)}
            for number, call in enumerate(self._calls)
        ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
