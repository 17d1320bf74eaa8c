"""Interface of the gateway's dialects, which read a client's request and write our reply as that API's server would."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from console.core.chat import Message, Reply


class GatewayCall(msgspec.Struct, frozen=True):
    """A client's call, in the format common to all dialects."""

    messages: list[Message]
    tools: list[dict[str, Any]]
    params: dict[str, Any]
    streams: bool = False
    """True if the client requests a stream of events."""
    model: str = ""
    """Name of the model as the client gives it."""


class CannotConvert(Exception):
    """Part of a request that cannot be passed to our models; its message names the part."""


class Dialect(NamedTuple):
    """One API of the gateway."""

    read: Callable[[dict[str, Any]], GatewayCall]
    """Parses a body; raises CannotConvert."""
    whole: Callable[[Reply, GatewayCall], dict[str, Any]]
    """Writes a reply as one object."""
    events: Callable[[Reply, GatewayCall], Iterator[str]]
    """Writes a reply as server-sent events."""
    refusal: Callable[[str, str], dict[str, Any]]
    """Writes an error, given its kind and message."""


def take(body: dict[str, Any], name: str, kind: type | tuple[type, ...], default: Any) -> Any:
    """Remove a field from a body and return it; a missing or null field gives the default.

    Raises:
        CannotConvert: the field has another type.
    """
    value = body.pop(name, None)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise CannotConvert(f"`{name}` is {type(value).__name__}")
    return value


def as_event(kind: str, **fields: Any) -> str:
    """Return a server-sent event with its type both in the event line and in the data, since clients read either."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"
