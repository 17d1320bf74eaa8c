"""The body of a chat request, from a model's settings and a request's own."""

import json
from typing import Any

from console.config.model import ModelConfig
from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind
from console.llm.wires.native_content import without_native


def chat_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the request body: the model's settings, then the request's; a setting of None is left out.

    What the model's server refuses (`omit`) is left out whoever asks for it, what it calls otherwise is renamed.
    """
    body: dict[str, Any] = {"model": model.model_id, "messages": without_native(request.messages)}
    settings = {"temperature": model.temperature, "max_tokens": model.max_tokens, "stream": True}
    body |= settings | model.params | request.params
    if request.tools:
        body["tools"] = request.tools
    if model.params.get("stream") is False:
        body["stream"] = False
    if body["stream"] is True:
        body.setdefault("stream_options", {"include_usage": True})
    if body["stream"] is False:
        del body["stream"]
    return as_accepted(model, {name: value for name, value in body.items() if value is not None})


def as_accepted(model: ModelConfig, body: dict[str, Any]) -> dict[str, Any]:
    """Return a body without what the model's server refuses, and with the names under which it takes the rest."""
    if not (model.omit or model.rename):
        return body
    return {model.rename.get(name, name): value for name, value in body.items() if name not in model.omit}


def completion_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """Return the body of a request to continue a text; its pieces are joined as they stand."""
    body = chat_body(model, request)
    del body["messages"]
    body.pop("tools", None)
    return body | {"prompt": "".join(message.get("content") or "" for message in request.messages)}


def encode(body: dict[str, Any]) -> bytes:
    """Return a body as JSON bytes; pure ASCII, so that even half characters can be sent.

    Raises:
        Fault: `bad_request`, when a value has no JSON form.
    """
    try:
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(FaultKind.BAD_REQUEST, f"the request has no JSON form: {error}") from None
