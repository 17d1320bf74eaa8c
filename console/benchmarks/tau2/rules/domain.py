"""A domain: data, tools and the world that they make."""

import copy
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domains.airline import AirlineWorld
from console.benchmarks.tau2.rules.domains.mock import MockWorld
from console.benchmarks.tau2.rules.domains.retail import RetailWorld
from console.benchmarks.tau2.rules.domains.telecom import TelecomWorld
from console.benchmarks.tau2.rules.domains.world import Kind, World
from console.core.ready_type import ready_type

WORLDS: dict[str, type[World]] = {
    "airline": AirlineWorld,
    "retail": RetailWorld,
    "telecom": TelecomWorld,
    "mock": MockWorld,
}
"""World of each domain."""
REFUSED = "banking_knowledge"
"""The domain that is not played here."""


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of one edition; its rows are shared by all conversations."""

    name: str
    rows: msgspec.Struct

    def kind_of(self, requestor: str, name: str) -> Kind | None:
        """Return the kind of a party's tool; None: it has no such tool."""
        tool = WORLDS[self.name].tools(requestor).get(name)
        return tool and tool.kind

    def world(self, agent_data: dict[str, Any] | None = None, user_data: dict[str, Any] | None = None) -> World:
        """Return a new world, with rows of a task merged into the data."""
        make = WORLDS[self.name]
        if not agent_data and not user_data:
            return make(self.rows)
        plain = cast(dict[str, Any], msgspec.to_builtins(self.rows))
        return make(msgspec.convert(_merged(_merged(plain, agent_data or {}), user_data or {}), ready_type(make.rows)))


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Merge objects at all depths; lists and values replace."""
    out = copy.copy(old)
    for key, value in new.items():
        before = out.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        out[key] = _merged(cast(dict[str, Any], before), cast(dict[str, Any], value)) if both else value
    return out
