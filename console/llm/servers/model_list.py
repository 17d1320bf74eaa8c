"""The models that a server lists."""

import json
from collections.abc import Sequence
from typing import Any, cast

from console.config.model import Limits, ModelConfig
from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.core.suggestion import nearest
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.http import ErrorResponse, HttpSession, read
from console.llm.wires.provider_api import api_of

_LISTING = Limits(timeout_s=10.0)
_HINT = Limits(timeout_s=3.0)
_SHOWN = 5


async def served_models(model: ModelConfig) -> list[str]:
    """Return the ids that a model's server lists, in its order; free of charge.

    Raises:
        Fault: as for a call: `auth`, `connect`, `bad_answer` …
    """
    session = HttpSession(model, api_of(model).headers)
    try:
        return await _list_models(session, _LISTING)
    finally:
        await session.aclose()


async def served_models_hint(session: HttpSession, model_id: str) -> str:
    """Return the listed models as an addition to a `not found` message; empty if they do not arrive in time."""
    try:
        ids = await _list_models(session, _HINT)
    except Fault:
        return ""
    return f"; {served_models_text(model_id, ids)}" if ids else ""


def served_models_text(model_id: str, served: Sequence[str]) -> str:
    """Return the id nearest to a missing one as text, or some of those listed."""
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
    rows: object = as_object(value).get("data", value)
    if not isinstance(rows, list):
        raise Fault(FaultKind.BAD_ANSWER, "the server did not send a list of models")
    return [row["id"] for row in as_objects(cast(object, rows)) if isinstance(row.get("id"), str)]
