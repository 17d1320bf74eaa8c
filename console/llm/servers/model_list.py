"""The models that a server lists."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from console.config.model import Limits, ModelConfig
from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.core.price import Price
from console.core.suggestion import nearest
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.http import ErrorResponse, HttpSession, read
from console.llm.wires.provider_api import api_of

_LISTING = Limits(timeout_s=10.0)
_HINT = Limits(timeout_s=3.0)
_SHOWN = 5
_LENGTHS = (
    "loaded_context_length",  # LM Studio
    "context_length",  # OpenRouter, Together AI
    "max_model_len",  # vLLM, SGLang
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "inputTokenLimit",  # Gemini
    "max_input_tokens",
)
"""Fields with the context length; llama.cpp has `n_ctx` in `meta`."""
_MOST_PER_MILLION = 1e6
"""Price in USD above which a listed price must be a mistake."""


class ServedModel(msgspec.Struct, frozen=True):
    """A model as its server lists it."""

    id: str
    price: Price = Price()
    """Price, if the server lists it, as OpenRouter does."""
    context: int | None = None
    """Context length in tokens."""
    aliases: tuple[str, ...] = ()
    """Other names under which the server accepts requests for it."""


async def served_models(model: ModelConfig) -> list[str]:
    """Return the ids that a model's server lists, in its order; free of charge.

    Raises:
        Fault: as for a call: `auth`, `connect`, `bad_answer` …
    """
    return [served.id for served in await list_models(model)]


async def list_models(model: ModelConfig) -> list[ServedModel]:
    """Return the models that a model's server lists, in its order; free of charge.

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
        ids = [served.id for served in await _list_models(session, _HINT)]
    except Fault:
        return ""
    return f"; {served_models_text(model_id, ids)}" if ids else ""


def served_models_text(model_id: str, served: Sequence[str]) -> str:
    """Return the id nearest to a missing one as text, or some of those listed."""
    close = nearest(model_id, served)
    shown = [close] if close else served[:_SHOWN]
    more = f" and {len(served) - len(shown)} more" if len(served) > len(shown) else ""
    return f"it serves {', '.join(shown)}{more}"


async def _list_models(session: HttpSession, limits: Limits) -> list[ServedModel]:
    try:
        async with Deadlines(limits, streamed=False), session.request("GET", session.model_list) as response:
            raw = await read(response)
    except ErrorResponse as error_response:
        raise session.fault_of_response(error_response) from None
    return _models(raw, session.redact)


def _models(raw: bytes, redact: Redactor) -> list[ServedModel]:
    try:
        value: Any = redact.known_value(json.loads(raw))
    except (ValueError, RecursionError):
        raise Fault(FaultKind.BAD_ANSWER, "the list of models is not JSON") from None
    answer = as_object(value)
    rows: object = answer.get("data", answer.get("models", value))
    if not isinstance(rows, list):
        raise Fault(FaultKind.BAD_ANSWER, "the server did not send a list of models")
    return [served for row in as_objects(cast(object, rows)) if (served := _model(row)) is not None]


def _model(row: Mapping[str, Any]) -> ServedModel | None:
    """Return the model in a row of OpenAI's list or, with `name` instead of `id`, of Gemini's."""
    id = row.get("id", row.get("name"))
    if not isinstance(id, str):
        return None
    pricing = as_object(row.get("pricing"))
    price = Price(
        input=_per_million(pricing.get("prompt")),
        output=_per_million(pricing.get("completion")),
        cached=_per_million(pricing.get("input_cache_read")),
        write=_per_million(pricing.get("input_cache_write")),
    )
    lengths = [as_object(row.get("meta")).get("n_ctx"), *(row.get(key) for key in _LENGTHS)]
    context = next((length for length in lengths if isinstance(length, int) and length > 0), None)
    listed: object = row.get("aliases")
    names = [*cast("list[object]", listed if isinstance(listed, list) else []), row.get("root")]
    aliases = tuple(name for name in names if isinstance(name, str) and name)
    return ServedModel(id.removeprefix("models/"), price if price.input else Price(), context, aliases)


def _per_million(per_token: object) -> float | None:
    """Return OpenRouter's price per token, a string, as a price per million tokens; None if there is none."""
    try:
        price = round(float(per_token) * 1e6, 6) if isinstance(per_token, str) else -1.0
    except ValueError:
        return None
    return price if 0 <= price < _MOST_PER_MILLION else None
