"""Prices of tokens at a model's list price, and amounts of money as text."""

from collections.abc import Iterable

from console.core.run import ModelFacts


def dollars(cost_usd: float) -> str:
    """Format an amount in USD with as many decimals as it needs; only zero is `$0.00`."""
    if cost_usd == 0 or cost_usd >= 0.1:
        return f"${cost_usd:,.2f}"
    if cost_usd < 0.0001:
        return "<$0.0001"
    return f"${cost_usd:.4f}".removesuffix("0") if cost_usd < 0.01 else f"${cost_usd:.3f}"


def batch_terms(models: Iterable[ModelFacts]) -> str:
    """Return the terms of a run's batches, such as `half price`; empty if there are no batches."""
    terms = [model.batched for model in models if not model.simulated]
    named = dict.fromkeys(filter(None, terms))
    return f"{', '.join(named)}{', in part' * ('' in terms)}" if named else ""


def price_of(facts: ModelFacts, sent: float, cached: float, written: float) -> float | None:
    """Return a price in USD, or None if models.toml does not give the prices it needs.

    Args:
        facts: the model as the run records it.
        sent: input tokens, including cached ones.
        cached: number of input tokens that the provider had cached.
        written: output tokens.
    """
    if facts.price_in is None or (written and facts.price_out is None):
        return None
    cached_price = facts.price_cached if facts.price_cached is not None else facts.price_in
    return (max(0, sent - cached) * facts.price_in + cached * cached_price + written * (facts.price_out or 0.0)) / 1e6
