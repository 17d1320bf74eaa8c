"""Costs of calls by litellm's list equal those of litellm's own formula, for all of its priced chat models."""

import math
import os
from typing import Any

import msgspec
import pytest

from console.config import list_prices
from console.config.list_prices import list_price
from console.core.chat import Usage
from console.core.price import BATCH, Price, cost_of_usage, most_of_usage

CALLS = {
    "short": (Usage(10_000, 1_000), ""),
    "cached": (Usage(10_000, 1_000, 7_000), ""),
    "long": (Usage(300_000, 1_000), ""),
    "long, cached": (Usage(300_000, 1_000, 200_000), ""),
    "at a boundary": (Usage(200_000, 1_000), ""),
    "written": (Usage(10_000, 1_000, 1_000, written=5_000), ""),
    "written for an hour": (Usage(10_000, 1_000, written=7_000, written_1h=7_000), ""),
    "long, written": (Usage(600_000, 1_000, written=7_000, written_1h=3_000), ""),
    "reasoning": (Usage(10_000, 1_000, reasoning=800), ""),
    "long, reasoning": (Usage(300_000, 1_000, reasoning=800), ""),
    "flex": (Usage(10_000, 1_000), "flex"),
    "flex, cached": (Usage(10_000, 1_000, 7_000), "flex"),
    "flex, long": (Usage(300_000, 1_000, 7_000), "flex"),
    "priority": (Usage(10_000, 1_000), "priority"),
    "priority, long": (Usage(300_000, 1_000), "priority"),
    "batch": (Usage(10_000, 1_000), BATCH),
    "batch, long, cached": (Usage(300_000, 1_000, 7_000), BATCH),
}


@pytest.fixture(scope="module")
def listed() -> list[tuple[str, dict[str, Any], Price]]:
    """Return the priced chat models of the list."""
    entries = {name: msgspec.json.decode(text) for name, text in list_prices._list().items()}
    chat = {name: entry for name, entry in entries.items() if entry.get("mode") in ("chat", "responses")}
    return [(name, entry, price) for name, entry in chat.items() if (price := list_price(entry)) != Price()]


@pytest.fixture(scope="module")
def formula():
    """Return the cost of a call by litellm's formula."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm.litellm_core_utils.llm_cost_calc.utils import generic_cost_per_token, get_batch_cost_rates
    from litellm.types.utils import (
        CacheCreationTokenDetails,
        CompletionTokensDetailsWrapper,
        PromptTokensDetailsWrapper,
    )
    from litellm.types.utils import Usage as Theirs

    def cost(name: str, entry: Any, usage: Usage, tier: str) -> float:
        parts = CacheCreationTokenDetails(
            ephemeral_5m_input_tokens=usage.written - usage.written_1h, ephemeral_1h_input_tokens=usage.written_1h
        )
        details = PromptTokensDetailsWrapper(
            cached_tokens=usage.cached, cache_creation_tokens=usage.written, cache_creation_token_details=parts
        )
        thoughts = CompletionTokensDetailsWrapper(reasoning_tokens=usage.reasoning) if usage.reasoning else None
        theirs = Theirs(
            prompt_tokens=usage.input,
            completion_tokens=usage.output,
            total_tokens=usage.input + usage.output,
            prompt_tokens_details=details,
            completion_tokens_details=thoughts,
        )
        provider = entry["litellm_provider"]
        if tier == BATCH:
            rates: Any = get_batch_cost_rates(entry, theirs, provider)
            cached = usage.cached * (rates.input if rates.cache_read is None else rates.cache_read)
            return (usage.input - usage.cached) * rates.input + cached + usage.output * rates.output
        both = generic_cost_per_token(name, theirs, provider, service_tier=tier or None, model_info=entry)
        return sum(both)

    return cost


@pytest.mark.parametrize("name", CALLS)
def test_costs_equal_those_of_the_list(formula, listed, name):
    usage, tier = CALLS[name]
    has_tier = [(model, entry, price) for model, entry, price in listed if tier in {"", *price.tiers}]
    costs = [(model, entry, cost_of_usage(price, usage, tier)) for model, entry, price in has_tier]
    exact = [(model, entry, cost.usd) for model, entry, cost in costs if cost.is_exact]
    theirs = {model: formula(model, entry, usage, tier) for model, entry, _ in exact}
    wrong = {
        model: (usd, theirs[model])
        for model, _, usd in exact
        if not math.isclose(usd, theirs[model], rel_tol=1e-6, abs_tol=1e-12)
    }
    assert wrong == {}
    assert len(exact) > 100


@pytest.mark.parametrize(
    ("model", "usage", "tier"),
    [
        ("gpt-5.5", Usage(10_000, 100), "scale"),
        ("gpt-5.5", Usage(300_000, 100), "priority"),
        ("gpt-4o-mini", Usage(10_000, 100, written=5_000), ""),
        ("gpt-5.5", Usage(10_000, 100, unpriced=50), ""),
        ("azure/gpt-5.6", Usage(10_000, 100, written=500, written_1h=500), ""),
        ("azure/gpt-5.5-2026-04-23", Usage(512_001, 0, 257_631), "flex"),
        ("gpt-5-nano-2025-08-07", Usage(10_000, 9_000), "priority"),
        ("deepseek-v4-flash", Usage(10_000, 100), ""),
        ("vertex_ai/gemini-3.5-flash", Usage(10_000, 100), ""),
    ],
)
def test_what_the_list_does_not_say_is_a_lower_bound(listed, model, usage, tier):
    """A tier without rates, writes without a rate, media, times of day and regions."""
    price = next(price for name, _, price in listed if name == model)
    cost = cost_of_usage(price, usage, tier)
    assert not cost.is_exact
    assert cost.usd <= most_of_usage(price, usage)


def test_a_cap_counts_at_least_what_the_list_says(formula, listed):
    """Also where a tier lacks some rates."""
    usage = Usage(300_000, 9_000, 100_000, reasoning=8_000)
    for name, entry, price in listed:
        for tier in {"", *price.tiers} & {"", "flex", "priority"}:
            assert formula(name, entry, usage, tier) <= most_of_usage(price, usage) * (1 + 1e-9), (name, tier)


def test_a_cost_reported_by_the_provider_wins(listed):
    price = next(price for name, _, price in listed if name == "gpt-5.5")
    assert cost_of_usage(price, Usage(300_000, 10, unpriced=5, cost_usd=0.25), "scale") == (0.25, True)


def test_rates_for_writes_outside_the_usual_range_are_not_believed():
    entry = {
        "litellm_provider": "x",
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "cache_creation_input_token_cost": 0.0,
    }
    assert list_price(entry) == Price(1.0, 2.0)
