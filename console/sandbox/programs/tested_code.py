"""Code of a model, and tests that call it: one operation loads the code, another runs one test.

Tests arrive one by one after the code has been loaded, so that the code cannot read them before.
"""

import contextlib
import io
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from console.sandbox.serve import Operation, Port

_FILE, _TEST = "solution.py", "tests.py"
_LONGEST = 10_000
_LONGEST_VALUE = 500


class Mismatch(AssertionError):
    """Two values that should be equal."""

    def __init__(self, got: Any, expected: Any) -> None:
        super().__init__("the values differ")
        self.got, self.expected = _shown(got), _shown(expected)


class Solution:
    """The loaded code and the names of its tests."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {}

    def load(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Write the files and run the code with the given standard input."""
        for name, text in arguments["files"].items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        sys.path[:0] = arguments["packages"]
        sys.stdin = io.StringIO(arguments["stdin"])
        module = ModuleType(arguments["name"])
        sys.modules[arguments["name"]] = module
        self._names = vars(module)
        return _run(lambda: compile(arguments["code"], _FILE, "exec"), self._names)

    def prepare(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Define the tests next to the names of the code."""
        self._names = {**self._names, "__name__": "tests", "_Mismatch": Mismatch}
        return _run(lambda: compile(arguments["source"], _TEST, "exec"), self._names)

    def test(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return _run(lambda: compile(arguments["source"], _TEST, "exec"), self._names)


def _run(compiled: Any, names: dict[str, Any]) -> dict[str, Any]:
    written = io.StringIO()
    started = time.perf_counter()
    problem: dict[str, Any] = {}
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        try:
            code: CodeType = compiled()
            exec(code, names)  # noqa: S102 - the purpose of this program, in confinement
        except BaseException as error:
            problem = _described(error)
    return {"seconds": round(time.perf_counter() - started, 1), "stdout": written.getvalue()[:_LONGEST], **problem}


def _described(error: BaseException) -> dict[str, Any]:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
    if isinstance(error, SyntaxError) and error.filename == _FILE:
        lines = [error.lineno]
    description = {
        "error": "".join(_words(error))[:_LONGEST_VALUE],
        "line": next((line for line in lines[::-1] if line), 0),
    }
    return description | ({"got": error.got, "expected": error.expected} if isinstance(error, Mismatch) else {})


def _words(error: BaseException) -> Iterator[str]:
    yield type(error).__name__
    with contextlib.suppress(Exception):
        text = str(error.msg if isinstance(error, SyntaxError) else error)
        yield f": {text}" if text else ""


def _shown(value: Any) -> str:
    try:
        return repr(value)[:_LONGEST_VALUE]
    except Exception as error:
        return f"a value whose repr fails with {type(error).__name__}"


def start(port: Port, setup: dict[str, Any]) -> dict[str, Operation]:
    """Return the operations."""
    del port, setup
    solution = Solution()
    return {"load": solution.load, "prepare": solution.prepare, "test": solution.test}
