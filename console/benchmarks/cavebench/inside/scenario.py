"""A scenario's module, imported in the worker: tools, variables, types, validators, hooks."""

import errno
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from console.benchmarks.cavebench.inside import stubs
from console.benchmarks.cavebench.rules.json_values import encode, sendable

_OF_THE_MACHINE = frozenset(
    {
        *(errno.EROFS, errno.ENOSYS, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
        *(errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.ENOBUFS),
    }
)
"""Exceptions due to the confinement or the machine, not the module."""


class ScenarioError(Exception):
    """Fault of the scenario: its module cannot be imported, or lacks a name that its turns use."""


class ScenarioModule:
    """The imported module and the attributes of the contract."""

    def __init__(self, module: ModuleType) -> None:
        """Read the attributes of the contract, all of which are optional."""
        self.tools = cast("list[Callable[..., Any]]", list(getattr(module, "tools", None) or []))
        self.variables = list(getattr(module, "variables", None) or [])
        self.types = list(getattr(module, "types", None) or [])
        self.validators: dict[str, Callable[..., Any]] = dict(getattr(module, "validators", None) or {})
        self.hooks: dict[str, Callable[..., Any]] = dict(getattr(module, "hooks", None) or {})
        self.description = _text(module, "description")
        self.requirements = _text(module, "requirements")

    def check(self, turns: list[dict[str, Any]]) -> None:
        """Check that everything named by the turns exists.

        Raises:
            ScenarioError: names the turn and what is missing.
        """
        for number, turn in enumerate(turns, start=1):
            for key, functions in (("validator", self.validators), ("pre_turn_hook", self.hooks)):
                name = turn.get(key)
                if name and name not in functions:
                    listed = ", ".join(sorted(functions)) or "none"
                    raise ScenarioError(
                        f"turn {number} names the {key} {name!r}, which is not in the module ({listed})"
                    )

    def validate(
        self, turn: dict[str, Any], response: str, runtime: Any, calls: list[tuple[str, Any, str]]
    ) -> dict[str, Any] | None:
        """Return the result of the turn's validator, or None if there is none; errors become part of it."""
        name = turn.get("validator")
        if not name:
            return None
        tool_calls = [stubs.ToolCall(function, arguments, call_id) for function, arguments, call_id in calls]
        try:
            result = self.validators[name](response, runtime, stubs.Turn(**turn), tool_calls)
            return {"success": bool(result.success), "message": sendable(str(result.message)), "trouble": ""}
        except BaseException as error:
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return {"success": False, "message": "", "trouble": sendable(text[:2000])}


def load(root: str, module: str, beside: str) -> ScenarioModule:
    """Import a scenario's module with the stubs, from the root or from the file next to its JSON.

    Raises:
        ScenarioError: the module raised on import.
        OSError: the confinement refused something the module needs.
        MemoryError: the memory limit was reached.
    """
    stubs.install()
    sys.path.insert(0, root)
    os.chdir(root)
    try:
        return ScenarioModule(_import_module(root, module, beside))
    except (PermissionError, MemoryError):
        raise
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            raise
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ScenarioError(text) from None


def _import_module(root: str, module: str, beside: str) -> ModuleType:
    try:
        is_importable = importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        is_importable = False
    if is_importable or not beside:
        return importlib.import_module(module)
    return _import_file(Path(root, beside))


def coded_calls(calls: list[tuple[str, Any, str]]) -> list[dict[str, Any]]:
    """Return calls in the format of the record."""
    return [
        {"function": function, "arguments": encode(arguments), "call_id": call_id}
        for function, arguments, call_id in calls
    ]


def first_calls(calls: list[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    """Return the first calls that fit into a size in bytes of JSON."""
    for number, call in enumerate(calls):
        size -= len(json.dumps(call)) + 2
        if size < 2:
            return calls[:number]
    return calls


def _import_file(path: Path) -> ModuleType:
    """Import a file as a module of a package for its folder, so that relative imports work."""
    package = ModuleType("scenario")
    package.__path__ = [str(path.parent)]
    sys.modules["scenario"] = package
    return importlib.import_module(f"scenario.{path.stem}")


def _text(module: ModuleType, name: str) -> str:
    value = getattr(module, name, None)
    return value if isinstance(value, str) else ""
