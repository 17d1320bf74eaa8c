"""Prices and context lengths of known models, from the list that litellm ships.

The list is read as JSON, only if a model has no price in models.toml, and litellm itself is not imported.
"""

import importlib.metadata
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from console.config.known_servers import AZURE, KNOWN_SERVERS
from console.config.model import ModelConfig, Price
from console.core.provider import provider_of
from console.core.ready_type import ready_type

_FILE = "model_prices_and_context_window_backup.json"
_AZURE_HOST = ".openai.azure.com"


class _Entry(msgspec.Struct):
    """A model in litellm's list; prices are in USD per token."""

    litellm_provider: str = ""
    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None
    output_cost_per_reasoning_token: float | None = None
    cache_read_input_token_cost: float | None = None
    max_input_tokens: int | None = None


def with_list_price(model: ModelConfig) -> ModelConfig:
    """Return a model with the price and the context length in litellm's list; unchanged if it is not listed."""
    entry = _entry(_provider_name(model), model.model_id)
    if entry is None:
        return model
    price, context = _price(entry), model.context or entry.max_input_tokens
    if price == Price():
        return msgspec.structs.replace(model, context=context)
    return msgspec.structs.replace(model, price=price, context=context, price_source=_source())


def _provider_name(model: ModelConfig) -> str:
    """Return litellm's name of a model's provider; empty for servers that are not listed."""
    if model.provider == "litellm":
        return "" if model.base_url else model.model_id.partition("/")[0]
    host = urlsplit(model.base_url or provider_of(model.provider).address).hostname or ""
    if host.endswith(_AZURE_HOST):
        return AZURE
    return next((server.name for server in KNOWN_SERVERS if server.host == host), "")


def _entry(provider: str, model_id: str) -> _Entry | None:
    if not provider:
        return None
    own_id = model_id.removeprefix(f"{provider}/")
    for name in (f"{provider}/{own_id}", own_id):
        try:
            entry = msgspec.json.decode(_list().get(name, b"{}"), type=ready_type(_Entry))
        except msgspec.DecodeError:
            continue
        if entry.litellm_provider.startswith(provider):
            return entry
    return None


def _price(entry: _Entry) -> Price:
    """Return the price; none if it is zero, or if reasoning tokens are priced differently from other output."""
    reasoning = entry.output_cost_per_reasoning_token
    if not entry.input_cost_per_token or (reasoning is not None and reasoning != entry.output_cost_per_token):
        return Price()
    costs = (entry.input_cost_per_token, entry.output_cost_per_token, entry.cache_read_input_token_cost)
    return Price(*(None if cost is None or cost < 0 else round(cost * 1e6, 6) for cost in costs))


@cache
def _list() -> dict[str, Any]:
    """Return litellm's list, with each entry as JSON text; empty if it cannot be read."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        text = Path(spec.origin).with_name(_FILE).read_bytes()
        return msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (OSError, msgspec.DecodeError):
        return {}


@cache
def _source() -> str:
    return f"litellm {importlib.metadata.version('litellm')}"
