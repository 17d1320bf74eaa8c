"""A domain: its data, its tools, and the world they form."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domains.airline import AirlineWorld
from console.benchmarks.tau2.rules.domains.mock import MockWorld
from console.benchmarks.tau2.rules.domains.retail import RetailWorld
from console.benchmarks.tau2.rules.domains.telecom import TelecomWorld
from console.benchmarks.tau2.rules.domains.world import Kind, World, tools_of
from console.core.ready_type import ready_type

WORLDS: dict[str, type[World]] = {
    "airline": AirlineWorld,
    "retail": RetailWorld,
    "telecom": TelecomWorld,
    "mock": MockWorld,
}
"""World of each domain."""
REFUSED = "banking_knowledge"
"""The unsupported domain."""


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of one edition; its rows are shared by all conversations."""

    name: str
    rows: msgspec.Struct

    def kind_of(self, requestor: str, name: str) -> Kind | None:
        """Return the kind of a party's tool; None if it has no such tool."""
        tool = tools_of(WORLDS[self.name], requestor).get(name)
        return tool and tool.kind

    def world(self, additions: Iterable[dict[str, Any]] = ()) -> World:
        """Return a new world, with rows of a task merged into the data."""
        make, rows = WORLDS[self.name], self.rows
        for addition in additions:
            merged = _merged(cast(dict[str, Any], msgspec.to_builtins(rows)), addition)
            rows = msgspec.convert(merged, ready_type(make.rows))
        return make(rows)


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Merge objects at all depths; lists and other values are replaced."""
    out = copy.copy(old)
    for key, value in new.items():
        before = out.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        out[key] = _merged(cast(dict[str, Any], before), cast(dict[str, Any], value)) if both else value
    return out
