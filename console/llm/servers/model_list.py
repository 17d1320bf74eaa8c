"""The list of models that a server says it serves."""

import json
from collections.abc import Sequence
from typing import Any, cast

from console.config.model import Limits, ModelConfig
from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.core.suggestion import nearest
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.http import ErrorResponse, HttpSession, read
from console.llm.wires.provider_api import api_of

_LISTING = Limits(timeout_s=10.0)
_HINT = Limits(timeout_s=3.0)
_SHOWN = 5


async def served_models(model: ModelConfig) -> list[str]:
    """Ask a model's server for the ids it serves, in its order; costs nothing.

    Raises:
        Fault: typed as for a call: `auth`, `connect`, `bad_answer` …
    """
    session = HttpSession(model, api_of(model).headers)
    try:
        return await _list_models(session, _LISTING)
    finally:
        await session.aclose()


async def served_models_hint(session: HttpSession, model_id: str) -> str:
    """Return what a server does serve, as a sentence behind `not found`; empty when it does not say in time."""
    try:
        ids = await _list_models(session, _HINT)
    except Fault:
        return ""
    return f"; {served_models_text(model_id, ids)}" if ids else ""


def served_models_text(model_id: str, served: Sequence[str]) -> str:
    """Say what a server serves beside a model that it does not: the nearest id, or some of them."""
    close = nearest(model_id, served)
    shown = [close] if close else served[:_SHOWN]
    more = f" and {len(served) - len(shown)} more" if len(served) > len(shown) else ""
    return f"it serves {', '.join(shown)}{more}"


async def _list_models(session: HttpSession, limits: Limits) -> list[str]:
    try:
        async with Deadlines(limits, streamed=False), session.request("GET", "models") as response:
            raw = await read(response)
    except ErrorResponse as error_response:
        raise session.fault_of_response(error_response) from None
    return _ids(raw, session.redact)


def _ids(raw: bytes, redact: Redactor) -> list[str]:
    try:
        value: Any = redact.known_value(json.loads(raw))
    except (ValueError, RecursionError):
        raise Fault(FaultKind.BAD_ANSWER, "the list of models is not JSON") from None
    rows: object = cast(dict[str, Any], value).get("data") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise Fault(FaultKind.BAD_ANSWER, "the server sent no list of models")
    ids = (cast(dict[str, Any], row).get("id") for row in cast(list[Any], rows) if isinstance(row, dict))
    return [identity for identity in ids if isinstance(identity, str)]
