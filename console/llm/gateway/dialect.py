"""Interface of the gateway's dialects, which read a client's request and write our reply as that API's server would."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from console.core.chat import Message, Reply


class GatewayCall(msgspec.Struct, frozen=True):
    """A call of a client, in the form that all dialects are read into."""

    messages: list[Message]
    tools: list[dict[str, Any]]
    params: dict[str, Any]
    streams: bool = False
    """Whether the client wants events."""
    model: str = ""
    """Name of the model as the client gives it."""


class CannotConvert(Exception):
    """A part of a request that our models cannot be asked for; its text names it."""


class Dialect(NamedTuple):
    """One API of the gateway."""

    read: Callable[[dict[str, Any]], GatewayCall]
    """Reads a body; raises CannotConvert."""
    whole: Callable[[Reply, GatewayCall], dict[str, Any]]
    """Writes a reply as one object."""
    events: Callable[[Reply, GatewayCall], Iterator[str]]
    """Writes a reply as server-sent events."""
    refusal: Callable[[str, str], dict[str, Any]]
    """Writes an error, given its kind and its words."""


def take(body: dict[str, Any], name: str, kind: type | tuple[type, ...], default: Any) -> Any:
    """Remove a field from a body and return it; a missing or null one is the default.

    Raises:
        CannotConvert: it has another type.
    """
    value = body.pop(name, None)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise CannotConvert(f"`{name}` is {type(value).__name__}")
    return value


def as_event(kind: str, **fields: Any) -> str:
    """Return a server-sent event with its type, in both places where clients look for it."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"
