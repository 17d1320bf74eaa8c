"""Prices and context lengths of known models, from the list that litellm ships.

The list is read as JSON, only if a model has no price in models.toml, and litellm itself is not imported.
"""

import importlib.metadata
import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from console.config.known_servers import AZURE, KNOWN_SERVERS
from console.config.model import ModelConfig
from console.core.price import BATCH, OFF_PEAK, REGIONAL, LongRates, Price, TierRates, filled, scaled
from console.core.provider import provider_of
from console.core.ready_type import ready_type

_FILE = "model_prices_and_context_window_backup.json"
_AZURE_HOST = ".openai.azure.com"


_RATES = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cached",
    "input_cost_per_token_cache_hit": "cached",
    "cache_creation_input_token_cost": "write",
    "cache_creation_input_token_cost_above_1hr": "write_1h",
    "output_cost_per_reasoning_token": "reasoning",
}
_FIELD = re.compile(rf"({'|'.join(sorted(_RATES, key=len, reverse=True))})(?:_above_(\d+)(k?)_tokens)?(?:_([a-z]+))?")
_AT_LEAST = {"xai"}
"""Providers whose rates for long prompts begin at the number of tokens, not above it."""
_CACHED_AT_HALF = {"fireworks_ai"}
"""Providers that charge half for cached tokens unless the list says otherwise."""
_BY_REQUEST = ("input_cost_per_request", "citation_cost_per_token")
"""Fields of models whose calls cost more than their tokens."""
_ROUNDING = 1 + 1e-6
_LARGEST_FACTOR = 10
Entry = dict[str, Any]


def with_list_price(model: ModelConfig) -> ModelConfig:
    """Return a model with the price and the lengths in litellm's list; unchanged if it is not listed."""
    entry = _entry(_provider_name(model), model.model_id)
    if entry is None:
        return model
    price, context = list_price(entry), model.context or _count(entry.get("max_input_tokens"))
    longest = _count(entry.get("max_output_tokens"))
    if price == Price():
        return msgspec.structs.replace(model, context=context, longest_reply=longest)
    return msgspec.structs.replace(model, price=price, context=context, longest_reply=longest, price_source=_source())


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _provider_name(model: ModelConfig) -> str:
    """Return litellm's name of a model's provider; empty for servers that are not listed."""
    if model.provider == "litellm":
        return "" if model.base_url else model.model_id.partition("/")[0]
    host = urlsplit(model.base_url or provider_of(model.provider).address).hostname or ""
    if host.endswith(_AZURE_HOST):
        return AZURE
    return next((server.name for server in KNOWN_SERVERS if server.host == host), "")


def _entry(provider: str, model_id: str) -> Entry | None:
    if not provider:
        return None
    own_id = model_id.removeprefix(f"{provider}/")
    for name in (f"{provider}/{own_id}", own_id):
        try:
            entry = msgspec.json.decode(_list().get(name, b"{}"), type=ready_type(Entry))
        except msgspec.DecodeError:
            continue
        if str(entry.get("litellm_provider", "")).startswith(provider):
            return entry
    return None


def list_price(entry: Entry) -> Price:
    """Return the price in an entry of the list; none if input is free, or if calls cost more than their tokens."""
    if any(name in entry for name in _BY_REQUEST) or entry.get("litellm_provider") == "perplexity":
        return Price()
    rates = _by_tier(entry, inclusive=entry.get("litellm_provider") in _AT_LEAST)
    standard = rates.pop("", TierRates())
    if ranges := entry.get("tiered_pricing"):
        standard = _ranges(cast("list[Entry]", ranges), standard)
    if not standard.input:
        return Price()
    if standard.cached is None and entry.get("litellm_provider") in _CACHED_AT_HALF:
        standard = msgspec.structs.replace(standard, cached=standard.input / 2)
    tiers = {BATCH if name == "batches" else name: row for name, row in rates.items() if row.input is not None}
    return Price(*standard.rates, above=standard.above, tiers=tiers | _factors(entry, standard))


def _by_tier(entry: Entry, *, inclusive: bool) -> dict[str, TierRates]:
    """Return the rates of each tier; the usual one has no name."""
    found: dict[str, dict[int, dict[str, float]]] = {}
    for name, value in entry.items():
        if (field := _FIELD.fullmatch(name)) is None or (usd := _per_million(value)) is None:
            continue
        kind, count, thousands, tier = field.groups()
        tokens = int(count or 0) * (1000 if thousands else 1) - (inclusive and count is not None)
        found.setdefault(tier or "", {}).setdefault(tokens, {}).setdefault(_RATES[kind], usd)
    return {
        tier: TierRates(
            **_checked(rows.pop(0, {})), above=tuple(_above(tokens, rows[tokens]) for tokens in sorted(rows))
        )
        for tier, rows in found.items()
    }


def _above(tokens: int, rates: dict[str, float]) -> LongRates:
    return LongRates(**_checked(rates), tokens=tokens)


def _checked(rates: dict[str, float]) -> dict[str, float]:
    """Return rates without those for cache writes that cannot be right."""
    usual = rates.get("input", 0.0)
    wrong = {
        name for name in ("write", "write_1h") if name in rates and not usual <= rates[name] <= 2 * usual * _ROUNDING
    }
    if rates.get("reasoning") == rates.get("output"):
        wrong.add("reasoning")
    return {name: usd for name, usd in rates.items() if name not in wrong}


def _ranges(ranges: list[Entry], standard: TierRates) -> TierRates:
    """Return rates by ranges of the prompt's length; a range never takes a rate from another one but for output."""
    rows = sorted((row for row in ranges if len(row.get("range", ())) == 2), key=lambda row: row["range"][0])
    rates = [_by_tier(row, inclusive=False).get("", TierRates()) for row in rows]
    first = next(iter(rates), TierRates())
    if first.input is None:
        return standard
    output = standard.output if first.output is None else first.output
    above = tuple(
        LongRates(
            row.input, row.output, row.input if row.cached is None else row.cached, row.write, row.write_1h,
            row.output if row.reasoning is None else row.reasoning, tokens=int(fields["range"][0]),
        )
        for row, fields in zip(rates[1:], rows[1:], strict=True)
    )  # fmt: skip
    return TierRates(first.input, output, first.cached, first.write, first.write_1h, first.reasoning, above=above)


def _factors(entry: Entry, standard: TierRates) -> dict[str, TierRates]:
    """Return tiers that are given as factors, and those that a reply does not name."""
    named = entry.get("provider_specific_entry")
    factors: Entry = {**named} if isinstance(named, dict) else {}
    factors[REGIONAL] = entry.get("regional_endpoint_uplift_multiplier")
    tiers = {
        name: scaled(standard, factor)
        for name, factor in factors.items()
        if isinstance(factor, int | float) and 0 < factor <= _LARGEST_FACTOR
    }
    if isinstance(times := entry.get("off_peak_pricing"), dict):
        cheaper = _by_tier(cast("Entry", times), inclusive=False).get("", TierRates())
        tiers[OFF_PEAK] = TierRates(*filled(cheaper, standard))
    return tiers


def _per_million(value: object) -> float | None:
    """Return a price per token as one per million tokens."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        return None
    return round(value * 1e6, 6)


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
