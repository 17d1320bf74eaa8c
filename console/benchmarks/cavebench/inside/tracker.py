"""Records the tool calls made by code: by function name, wherever and however the tools are called.

A profile callback sees every Python function entered while cells run. Functions with a tool's name count as calls, with
their bound parameters, defaults filled in and `self` dropped; nested and raising calls count, lambdas do not. Arguments
are kept by reference, so later changes by the tool are visible.
"""

import sys
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any


class CallTracker:
    """Records the calls of one turn."""

    def __init__(self, names: Iterable[str]) -> None:
        """Track calls of the given tool names."""
        self._names = frozenset(names)
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def forget(self) -> None:
        """Drop the recorded calls, for a new turn."""
        self.calls = []

    def __enter__(self) -> "CallTracker":
        sys.setprofile(self._entered)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _entered(self, frame: FrameType, event: str, argument: Any) -> None:
        del argument
        if event == "call" and frame.f_code.co_name in self._names:
            self.calls.append((frame.f_code.co_name, _bound(frame, frame.f_code)))


def _bound(frame: FrameType, code: CodeType) -> dict[str, Any]:
    count = code.co_argcount + code.co_kwonlyargcount
    values = frame.f_locals
    return {name: values[name] for name in code.co_varnames[:count] if name != "self" and name in values}
