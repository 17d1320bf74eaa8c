"""The simulators of one side of one entry: fresh instances, and the calls executed on them. Runs in the worker."""

import copy
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from console.benchmarks.bfcl.simulators.call import execute

STATELESS = frozenset(("MathAPI",))
"""Classes without a scenario."""

_DEEPEST = 20
"""Levels of nested values that are shown."""
Classes = Mapping[str, Callable[[], Any]]


class Simulators:
    """Instances of the involved classes, loaded with the entry's scenario."""

    def __init__(self, classes: Classes, entry: Mapping[str, Any], side: str) -> None:
        """Make fresh instances.

        Args:
            classes: simulator classes by name.
            entry: `id`, `classes` (names), `config` (class name to scenario), `long_context`.
            side: part of the instances' variable names, which show in rewritten texts; must differ between model and
                ground truth.
        """
        self.instances: dict[str, Any] = {}
        """By class name, in the entry's order."""
        self._variables: dict[str, Any] = {}
        self._owners: dict[str, str] = {}
        for name in entry["classes"]:
            instance = classes[name]()
            if name not in STATELESS:
                instance._load_scenario(_copied(entry["config"].get(name, {})), long_context=entry["long_context"])
            variable = re.sub(r"[-./:]", "_", f"{side}_{entry['id']}_{name}_instance")
            self.instances[name] = self._variables[variable] = instance
            self._owners |= dict.fromkeys(_public_methods(cast(type, instance.__class__)), variable)

    def execute(self, calls: Sequence[str]) -> list[str]:
        """Execute calls in order and return their results."""
        return [execute(call, self._variables, self._owners) for call in calls]


@cache
def _public_methods(kind: type) -> tuple[str, ...]:
    return tuple(name for name, _ in inspect.getmembers(kind, inspect.isroutine) if not name.startswith("_"))


def _copied(value: Any) -> Any:
    """Copy a JSON value, several times as fast as what copies anything."""
    if type(value) is dict:
        return {key: _copied(part) for key, part in cast(dict[Any, Any], value).items()}
    if type(value) is list:
        return [_copied(part) for part in cast(list[Any], value)]
    return value if isinstance(value, str | int | float | None) else copy.deepcopy(value)


def public_state(instance: object) -> dict[str, Any]:
    """Return the public attributes of an instance as JSON can hold them."""
    return {name: plain(value) for name, value in vars(instance).items() if not name.startswith("_")}


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON can hold it; objects become their public contents, folders their tree."""
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
    """Return what counts as equal of a folder or a file of the file system; of other objects their text."""
    for name in ("contents", "content"):
        if hasattr(value, name):
            return plain(getattr(value, name), depth + 1)
    return repr(value)


def storable(value: Any) -> Any:
    """Return a value as the official score file stores it: what JSON cannot hold becomes its text."""
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
    """Return the public attributes of an instance as the official files store them."""
    return {name: storable(value) for name, value in vars(instance).items() if not name.startswith("_")}
