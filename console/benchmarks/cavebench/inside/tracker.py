"""Recording which tools the code called: by function name, wherever and however they are called.

A profile callback sees every Python function that is entered while cells run. Each whose name is a tool's is a call,
with its bound parameters, defaults filled in and `self` dropped; nested and raising calls count, lambdas do not.
Arguments are kept as references: what the tool changes is seen changed.
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
        """Drop the calls so far: a new turn begins."""
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
