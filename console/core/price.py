"""Prices of models, costs of calls, and amounts of money as text.

docs/models.md has the formula. A cost is exact only if the price gives every rate that the call needs.
"""

from collections.abc import Iterable, Sequence
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


_NO_PRICE = Price()


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
    if not price.tiers:
        return cost
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
    if usual is None and not (rates.above or usage.cached or usage.written or usage.reasoning or usage.unpriced):
        is_exact = (rates.input is not None or not usage.input) and (rates.output is not None or not usage.output)
        return Cost((usage.input * (rates.input or 0) + usage.output * (rates.output or 0)) / 1e6, is_exact)
    row, is_exact, total = _row(rates, prompt), not usage.unpriced, 0.0
    own = usual_own = _own_row(rates, prompt)
    if usual is not None:
        usual_own = _own_row(usual, prompt)
        is_exact &= _longest(usual.above, prompt) == _longest(rates.above, prompt)
    for name, count in _counts(usage):
        if not count:
            continue
        usd = _rate(row, name)
        is_exact &= getattr(own, name) is not None or getattr(usual_own, name) is None
        if usd is None:
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
    own = _own_row(rates, prompt)
    return rates if own is rates else Rates(*filled(own, rates))


def _own_row(rates: TierRates, prompt: float) -> Rates:
    """Return the rates for a prompt of this length, without those of shorter ones."""
    tokens = _longest(rates.above, prompt) if rates.above else 0
    return next((row for row in rates.above if row.tokens == tokens), rates)


def most_of_usage(price: Price, usage: Usage) -> float:
    """Return the highest cost that a call with these tokens may have had, in any tier."""
    if usage.cost_usd is not None or price == _NO_PRICE:
        return usage.cost_usd or 0.0
    usual = _row(price, usage.input)
    rows = (_dearest(_row(rates, usage.input), usual) for rates in (price, *price.tiers.values()))
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
            own, usual = _row(rates, length), _row(price, length)
            row = _dearest(own, usual)
            into = [row.input, *([row.write] if caches or own.write or usual.write else [])]
            into += [row.write_1h] if caches == "1h" else []
            most = max(most, sent * _highest(into) + output * _highest((row.output, row.reasoning)))
    return most / 1e6


def _highest(rates: Iterable[float | None]) -> float:
    return max(usd or 0.0 for usd in rates)


def _dearest(row: Rates, usual: Rates) -> Rates:
    """Return rates where missing ones are the highest that may apply: those in their place, or of the usual tier."""
    rates = [max(_rate(row, name) or 0.0, getattr(usual, name) or 0.0) for name in Rates.__struct_fields__]
    known = [own if own is not None else other for own, other in zip(row.rates, rates, strict=True)]
    sent, output, cached, write, write_1h, reasoning = known
    write = max(write, sent * _WRITE) if row.write is None else write
    write_1h = max(write_1h, sent * _WRITE_1H) if row.write_1h is None else write_1h
    return Rates(sent, output, cached, write, write_1h, reasoning)


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
