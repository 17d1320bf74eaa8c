"""Prices of models, costs of calls, and amounts of money as text.

docs/models.md has the formula. A cost is exact only if the price gives every rate that the call needs.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple, cast

import msgspec

from console.core.chat import Usage
from console.core.ranges import LARGEST_COUNT

_Usd = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
_STANDARD = frozenset({"", "default", "standard", "standard_only", "auto", "on_demand"})
"""Names under which providers serve calls at the usual price."""
BATCH = "batch"
OFF_PEAK, REGIONAL = "off_peak", "regional"
"""Tiers that a reply does not name: any call may have been served at their rates."""
_INSTEAD = {"cached": "input", "write": "input", "write_1h": "write", "reasoning": "output"}
_WRITE, _WRITE_1H = 1.25, 2.0
"""Usual rates of cache writes, as multiples of the input rate."""


class Rates(msgspec.Struct, frozen=True, omit_defaults=True, rename={"input": "in", "output": "out"}):
    """Rates in USD per million tokens."""

    input: _Usd | None = None
    """Input tokens. Default: unknown."""
    output: _Usd | None = None
    """Output tokens. Default: unknown."""
    cached: _Usd | None = None
    """Input tokens read from the provider's cache. Default: same as `in`."""
    write: _Usd | None = None
    """Input tokens written to the cache for minutes. Default: at least `in`."""
    write_1h: _Usd | None = None
    """Input tokens written to the cache for an hour. Default: at least `write`."""
    reasoning: _Usd | None = None
    """Output tokens of reasoning. Default: same as `out`."""

    @property
    def rates(self) -> "Row":
        """The rates in the order of their fields."""
        return (self.input, self.output, self.cached, self.write, self.write_1h, self.reasoning)


Row = tuple[float | None, float | None, float | None, float | None, float | None, float | None]
"""Rates in the order of the fields of `Rates`."""


class LongRates(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rates of whole calls whose prompt is longer than a number of tokens; others are those of shorter prompts."""

    tokens: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_COUNT)]


class TierRates(Rates, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Rates of a service tier."""

    above: tuple[LongRates, ...] = ()
    """Rates of calls whose prompt is longer: `[{ tokens = 200000, in = 5, out = 22.5 }]`. Default: none."""


class Price(TierRates, frozen=True, omit_defaults=True, forbid_unknown_fields=False):
    """All rates of a model."""

    tiers: dict[str, TierRates] = {}
    """Rates of service tiers, by the name in replies: `{ flex = { in = 1, out = 4 } }`. Default: none."""


class Cost(NamedTuple):
    """Cost of a call."""

    usd: float
    is_exact: bool
    """False if the amount is a lower bound."""

    @property
    def exact_usd(self) -> float | None:
        """The amount; None if it is a lower bound."""
        return self.usd if self.is_exact else None


UNKNOWN = Cost(0.0, is_exact=False)


def cost_of_usage(price: Price, usage: Usage, tier: str = "", prompt: float | None = None) -> Cost:
    """Return the cost of a call as the provider reported it, else by price.

    Args:
        price: the model's price.
        usage: tokens of the call.
        tier: service tier; empty for the usual one.
        prompt: tokens of a prompt, if `usage` is a sum over several calls.
    """
    if usage.cost_usd is not None:
        return Cost(usage.cost_usd, is_exact=True)
    length = usage.input if prompt is None else prompt
    if not is_standard(price, tier):
        rates = price.tiers.get(tier)
        return UNKNOWN if rates is None else _cost_by(rates, usage, length, usual=price)
    cost = _cost_by(price, usage, length)
    possible = [price.tiers[name] for name in (OFF_PEAK, REGIONAL) if name in price.tiers]
    others = [_cost_by(rates, usage, length).usd for rates in possible]
    return Cost(min(cost.usd, *others), is_exact=False) if others else cost


def estimated_cost(price: Price, usage: Usage, tier: str, calls: float = 1.0) -> float | None:
    """Return the expected cost of this many calls with these tokens in all, or None if a rate is unknown."""
    rates = price if is_standard(price, tier) else price.tiers.get(tier, TierRates())
    prompt = usage.input / calls if calls > 1 else usage.input
    row = _row(rates, prompt)
    if row.input is None or (usage.output and row.output is None):
        return None
    return _cost_by(rates, usage, prompt).usd


def is_standard(price: Price, tier: str) -> bool:
    """Return whether calls of a tier have the usual price; in batches, that is the price of batches."""
    return tier in _STANDARD or (tier == BATCH and BATCH not in price.tiers)


def _cost_by(rates: TierRates, usage: Usage, prompt: float, usual: TierRates | None = None) -> Cost:
    """Return the cost by the rates of a tier; those that only the `usual` tier has are unknown."""
    row = usual_row = _row(rates, prompt)
    is_exact, total = not usage.unpriced, 0.0
    if usual is not None:
        usual_row = _row(usual, prompt)
        is_exact &= _longest(usual.above, prompt) == _longest(rates.above, prompt)
    for name, count in _counts(usage):
        if not count:
            continue
        usd = _rate(row, name)
        if usd is None or (getattr(row, name) is None and getattr(usual_row, name) is not None):
            is_exact = False
        else:
            total += count * usd
            is_exact &= usd == 0 or getattr(row, name) is not None or name not in ("write", "write_1h")
    return Cost(total / 1e6, is_exact)


def _counts(usage: Usage) -> tuple[tuple[str, int], ...]:
    """Return the tokens of a call by rate."""
    reasoning = min(usage.reasoning, usage.output)
    return (
        ("input", max(0, usage.input - usage.cached - usage.written)),
        ("cached", usage.cached),
        ("write", usage.written - usage.written_1h),
        ("write_1h", usage.written_1h),
        ("output", usage.output - reasoning),
        ("reasoning", reasoning),
    )


def _rate(row: Rates, name: str) -> float | None:
    """Return a rate, or the one that applies in its place."""
    usd: float | None = getattr(row, name)
    return _rate(row, _INSTEAD[name]) if usd is None and name in _INSTEAD else usd


def _longest(above: Sequence[LongRates], prompt: float) -> int:
    return max((row.tokens for row in above if prompt > row.tokens), default=0)


def _row(rates: TierRates, prompt: float) -> Rates:
    """Return the rates for a prompt of this length."""
    tokens = _longest(rates.above, prompt) if rates.above else 0
    if not tokens:
        return rates
    row = next(row for row in rates.above if row.tokens == tokens)
    return Rates(*filled(row, rates))


def most_of_usage(price: Price, usage: Usage) -> float:
    """Return the highest cost that a call with these tokens may have had, in any tier."""
    if usage.cost_usd is not None:
        return usage.cost_usd
    rows = (_guessed(_row(rates, usage.input)) for rates in (price, *price.tiers.values()))
    return max(_cost_by(TierRates(*row.rates), usage, usage.input).usd for row in rows)


def most_of_call(price: Price, sent: float, output: float, *, longest: float, tier: str, caches: str) -> float:
    """Return the highest cost of a call that is not sent yet, with its whole prompt written to a cache.

    Args:
        price: the model's price.
        sent: expected tokens of the prompt.
        output: maximum tokens of the reply.
        longest: maximum tokens of the prompt, which selects the rates by length.
        tier: requested tier; any tier if its rates are unknown.
        caches: lifetime of what it writes to a cache: ``, `minutes` or `1h`.
    """
    asked = [price.tiers[name] for name in (tier, OFF_PEAK, REGIONAL) if name in price.tiers]
    if not is_standard(price, tier) and tier not in price.tiers:
        asked = list(price.tiers.values())
    most = 0.0
    for rates in (price, *asked):
        for length in (0, *(row.tokens + 1 for row in rates.above if row.tokens < longest)):
            row = _row(rates, length)
            full = _guessed(row) if caches else row
            into = (full.input or 0.0, full.write or 0.0, (full.write_1h or 0.0) if caches == "1h" else 0.0)
            most = max(most, sent * max(into) + output * max(row.output or 0.0, row.reasoning or 0.0))
    return most / 1e6


def _guessed(row: Rates) -> Rates:
    """Return rates with the usual ones for cache writes where they are missing."""
    usual = row.input or 0.0
    write = usual * _WRITE if row.write is None else row.write
    write_1h = usual * _WRITE_1H if row.write_1h is None else row.write_1h
    return Rates(row.input, row.output, row.cached, write, write_1h, row.reasoning)


def scaled(rates: TierRates, factor: float) -> TierRates:
    """Return rates multiplied by a factor."""
    above = tuple(LongRates(*_times(row, factor), tokens=row.tokens) for row in rates.above)
    return TierRates(*_times(rates, factor), above=above)


def _times(rates: Rates, factor: float) -> Row:
    return cast(Row, tuple(None if usd is None else round(usd * factor, 9) for usd in rates.rates))


def filled(rates: Rates, usual: Rates) -> Row:
    """Return rates with those of another row where they are missing."""
    pairs = zip(rates.rates, usual.rates, strict=True)
    return cast(Row, tuple(other if usd is None else usd for usd, other in pairs))


def as_price(rates: TierRates) -> Price:
    """Return the rates of a tier as the only ones of a model."""
    return Price(*rates.rates, above=rates.above)


def dollars(cost_usd: float) -> str:
    """Format an amount in USD with as many decimals as it needs; only zero is `$0.00`."""
    if cost_usd == 0 or cost_usd >= 0.1:
        return f"${cost_usd:,.2f}"
    if cost_usd < 0.0001:
        return "<$0.0001"
    return f"${cost_usd:.4f}".removesuffix("0") if cost_usd < 0.01 else f"${cost_usd:.3f}"
