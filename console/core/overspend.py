"""The amount by which a cap on money can be exceeded, in words.

A call is reserved at its highest cost. If `max_tokens` and the price bound that cost, calls in flight cannot exceed the
cap together. Otherwise each may cost more than any before, so only a few are in flight until more replies are known.
"""

from collections.abc import Iterable

from console.core.price import dollars, most_of_call
from console.core.provider import provider_of
from console.core.request import asked_tier, reply_limit
from console.core.run import ModelFacts

_FEWEST, _SHARE = 3, 4


def most_unlimited(replies: int, concurrency: int) -> int:
    """Return how many calls that may be dearer than any before may be in flight, after so many replies."""
    return max(1, min(concurrency, max(_FEWEST, replies // _SHARE)))


def overspend_words(models: Iterable[ModelFacts], concurrency: int) -> str:
    """Say by how much a run with these models can exceed its cap; empty if none of them costs money."""
    paid = [model for model in models if not (model.simulated or provider_of(model.provider).is_free)]
    paid = [model for model in paid if model.price.input or model.price.output or model.price.input is None]
    limited = [model.name for model in paid if _is_limited(model)]
    parts = [_unlimited(model, concurrency) for model in paid if not _is_limited(model)]
    if parts:
        return f"the cap can be exceeded by {', and by '.join(dict.fromkeys(parts))}"
    names = list(dict.fromkeys(limited))
    they = "keeps to max_tokens and its price" if len(names) == 1 else "keep to max_tokens and their prices"
    return f"the cap is kept as long as {' and '.join(names)} {they}" if names else ""


def _is_limited(model: ModelFacts) -> bool:
    return not model.batched and model.price.input is not None and reply_limit(model.params) is not None


def _unlimited(model: ModelFacts, concurrency: int) -> str:
    if model.batched and reply_limit(model.params) is not None:
        return f"what a batch of {model.name} costs beyond max_tokens and its price"
    if model.batched:
        return f"what a batch of {model.name} costs beyond its longest reply so far, as no max_tokens limits replies"
    if model.price.input is None:
        return f"what up to {concurrency} replies of {model.name} cost, as its price is unknown"
    each = ""
    if model.longest_reply is not None:
        tier = asked_tier(model.params)
        usd = most_of_call(model.price, 0, model.longest_reply, longest=0, tier=tier, caches="")
        each = f" (up to {dollars(usd)} each)"
    return f"up to {concurrency} replies of {model.name}{each}, as no max_tokens limits them"
