"""Parts of request bodies shared by several APIs."""

import json
from collections.abc import Mapping
from typing import Any, cast

from console.config.model import ModelConfig
from console.core.chat import Native
from console.core.fault import Fault, FaultKind


def native_content(message: Mapping[str, Any], api: str) -> list[Any] | str | None:
    """Return the content of an assistant message in an API's own format, or None if another API wrote it.

    Some APIs need their own output back unchanged: thinking blocks, signatures, encrypted reasoning. It is stored as
    `native` in replies and messages, and thus in the journal. Other APIs ignore it and read the plain fields.
    """
    native = cast(Native | None, message.get("native"))
    if native is None or native.get("api", native.get("wire")) != api or isinstance(native["content"], dict):
        return None
    return native["content"]


def call_arguments(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an earlier call, for APIs that want them as an object.

    Raises:
        Fault: `bad_request`, if they are not a JSON object.
    """
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        text = f"the arguments of an earlier call of {function['name']} are not a JSON object"
        raise Fault(FaultKind.BAD_REQUEST, text)
    return cast(dict[str, Any], arguments)


def as_accepted(model: ModelConfig, body: dict[str, Any]) -> dict[str, Any]:
    """Apply the `omit` and `rename` settings of a model to a request body."""
    if not (model.omit or model.rename):
        return body
    return {model.rename.get(name, name): value for name, value in body.items() if name not in model.omit}


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def encode(body: dict[str, Any]) -> bytes:
    """Return a body as ASCII JSON, which can carry lone surrogates.

    Raises:
        Fault: `bad_request`, if a value cannot be written as JSON.
    """
    try:
        return _encode(body).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(FaultKind.BAD_REQUEST, f"the request cannot be encoded as JSON: {error}") from None
