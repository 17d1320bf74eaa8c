"""Simulator instances of one side (model or ground truth) of an entry. Runs in the worker."""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from console.benchmarks.bfcl.simulators.call import execute
from console.core.json_copy import copied

STATELESS = frozenset(("MathAPI",))
"""Classes without a scenario."""

_DEEPEST = 20
"""Maximum depth of nested values."""
Classes = Mapping[str, Callable[[], Any]]


class Simulators:
    """Simulator instances of the involved classes, initialized with the entry's scenario."""

    def __init__(self, classes: Classes, entry: Mapping[str, Any], side: str) -> None:
        """Create new instances.

        Args:
            classes: simulator classes by name.
            entry: `id`, `classes` (names), `config` (scenario by class name), `long_context`.
            side: part of the instances' variable names in rewritten strings; different for model and ground truth.
        """
        self.instances: dict[str, Any] = {}
        """Instances by class name, in the entry's order."""
        self._variables: dict[str, Any] = {}
        self._owners: dict[str, str] = {}
        for name in entry["classes"]:
            instance = classes[name]()
            if name not in STATELESS:
                instance._load_scenario(copied(entry["config"].get(name, {})), long_context=entry["long_context"])
            variable = re.sub(r"[-./:]", "_", f"{side}_{entry['id']}_{name}_instance")
            self.instances[name] = self._variables[variable] = instance
            self._owners |= dict.fromkeys(_public_methods(cast(type, instance.__class__)), variable)

    def execute(self, calls: Sequence[str]) -> list[str]:
        """Execute calls in order and return their results."""
        return [execute(call, self._variables, self._owners) for call in calls]


@cache
def _public_methods(kind: type) -> tuple[str, ...]:
    return tuple(name for name, _ in inspect.getmembers(kind, inspect.isroutine) if not name.startswith("_"))


def public_state(instance: object) -> dict[str, Any]:
    """Return the public attributes of an instance as JSON."""
    return {name: plain(value) for name, value in vars(instance).items() if not name.startswith("_")}


def plain(value: Any, depth: int = 0) -> Any:
    """Convert a value to JSON; files and folders become their contents, other objects their `repr`."""
    if depth > _DEEPEST:
        return "…"
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else repr(value)
        case dict():
            return {str(key): plain(part, depth + 1) for key, part in cast(dict[Any, Any], value).items()}
        case list() | tuple():
            return [plain(part, depth + 1) for part in cast(list[Any], value)]
        case set():
            return sorted((plain(part, depth + 1) for part in cast(set[Any], value)), key=repr)
        case _:
            return _contents(value, depth)


def _contents(value: object, depth: int) -> Any:
    """Return the contents of a simulated file or folder, or the `repr` of another object."""
    for name in ("contents", "content"):
        if hasattr(value, name):
            return plain(getattr(value, name), depth + 1)
    return repr(value)


def storable(value: Any) -> Any:
    """Convert a value to JSON like the official score file; other values become strings."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else repr(value)
        case dict():
            return {str(key): storable(part) for key, part in cast(dict[Any, Any], value).items()}
        case list():
            return [storable(part) for part in cast(list[Any], value)]
        case tuple() if all(isinstance(part, str | int | float | None) for part in cast(tuple[Any, ...], value)):
            return list(cast(tuple[Any, ...], value))
        case _:
            return str(value)


def stored_state(instance: object) -> dict[str, Any]:
    """Return the public attributes of an instance in the official file format."""
    return {name: storable(value) for name, value in vars(instance).items() if not name.startswith("_")}
