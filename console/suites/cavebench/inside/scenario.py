"""A scenario's module, imported in the worker: tools, variables, types, validators, hooks."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from console.suites.cavebench.inside import stubs
from console.suites.cavebench.wire import encode


class ScenarioModule:
    """The imported module, with what the contract asks of it."""

    def __init__(self, module: ModuleType) -> None:
        """Read the attributes of the contract; each may be absent."""
        self.tools = cast("list[Callable[..., Any]]", list(getattr(module, "tools", None) or []))
        self.variables = list(getattr(module, "variables", None) or [])
        self.types = list(getattr(module, "types", None) or [])
        self.validators: dict[str, Callable[..., Any]] = dict(getattr(module, "validators", None) or {})
        self.hooks: dict[str, Callable[..., Any]] = dict(getattr(module, "hooks", None) or {})
        self.description = _text(module, "description")
        self.requirements = _text(module, "requirements")

    def check(self, turns: list[dict[str, Any]]) -> None:
        """Make sure that all the turns name exists.

        Raises:
            LookupError: names the turn and what is missing.
        """
        for number, turn in enumerate(turns, start=1):
            for key, functions in (("validator", self.validators), ("pre_turn_hook", self.hooks)):
                name = turn.get(key)
                if name and name not in functions:
                    listed = ", ".join(sorted(functions)) or "none"
                    raise LookupError(f"turn {number} names the {key} {name!r}, which is not in the module ({listed})")

    def validate(
        self, turn: dict[str, Any], response: str, runtime: Any, calls: list[tuple[str, Any, str]]
    ) -> dict[str, Any] | None:
        """Ask the turn's validator; None without one. What it raises or wrongly returns becomes its trouble."""
        name = turn.get("validator")
        if not name:
            return None
        tool_calls = [stubs.ToolCall(function, arguments, call_id) for function, arguments, call_id in calls]
        try:
            result = self.validators[name](response, runtime, stubs.Turn(**turn), tool_calls)
            return {"success": bool(result.success), "message": str(result.message), "trouble": ""}
        except BaseException as error:
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return {"success": False, "message": "", "trouble": text[:2000]}


def load(root: str, module: str, beside: str) -> ScenarioModule:
    """Import a scenario's module under the stand-ins, from the root or from the file beside its JSON.

    Raises:
        Exception: whatever the module raises on import.
    """
    stubs.install()
    sys.path.insert(0, root)
    os.chdir(root)
    try:
        is_importable = importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        is_importable = False
    if is_importable or not beside:
        return ScenarioModule(importlib.import_module(module))
    return ScenarioModule(_import_file(Path(root, beside)))


def coded_calls(calls: list[tuple[str, Any, str]]) -> list[dict[str, Any]]:
    """Return calls in the form of the record."""
    return [
        {"function": function, "arguments": encode(arguments), "call_id": call_id}
        for function, arguments, call_id in calls
    ]


def _import_file(path: Path) -> ModuleType:
    """Import a file as a module of the package its folder would be, so that relative imports work."""
    package = ModuleType("scenario")
    package.__path__ = [str(path.parent)]
    sys.modules["scenario"] = package
    return importlib.import_module(f"scenario.{path.stem}")


def _text(module: ModuleType, name: str) -> str:
    value = getattr(module, name, None)
    return value if isinstance(value, str) else ""
