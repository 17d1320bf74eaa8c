"""Tokens and money used so far by role, updated with every call and not only at the end of a conversation."""

import msgspec

from console.core.chat import SENT_TWICE
from console.core.price import price_of
from console.core.provider import provider_of
from console.core.record import Asked, Embedded
from console.core.run import ModelFacts


class RoleSpending(msgspec.Struct):
    """Sums over the calls of one role, including interrupted and superseded conversations."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reported_usd: float = 0.0
    """Cost reported by the provider; the tokens of those calls are not priced again."""
    reported_tokens: tuple[int, int, int] = (0, 0, 0)
    """Input, cached and output tokens of the calls with a reported cost."""
    uncounted: int = 0
    """Calls without a token count, or sent twice."""

    def add(self, record: Asked | Embedded) -> None:
        """Add one finished call."""
        self.calls += 1
        if isinstance(record, Embedded):
            self.input_tokens += record.tokens or 0
            self.uncounted += record.tokens is None
            return
        usage = record.reply.usage
        self.uncounted += SENT_TWICE in record.reply.flags
        if usage is None:
            self.uncounted += 1
            return
        self.input_tokens += usage.input
        self.output_tokens += usage.output
        self.cached_tokens += usage.cached
        if usage.cost_usd is not None:
            sent, cached, written = self.reported_tokens
            self.reported_usd += usage.cost_usd
            self.reported_tokens = sent + usage.input, cached + usage.cached, written + usage.output

    def cost_usd(self, facts: ModelFacts) -> float | None:
        """Return the known cost, or None if unknown. A lower bound if some calls are `uncounted`."""
        if facts.simulated or provider_of(facts.provider).is_free:
            return 0.0
        sent, cached, written = self.reported_tokens
        rest = (self.input_tokens - sent, self.cached_tokens - cached, self.output_tokens - written)
        price = price_of(facts, *rest) if any(rest) else None
        if price is None:
            return self.reported_usd if any(self.reported_tokens) else None
        return self.reported_usd + price

    def is_partial(self, facts: ModelFacts) -> bool:
        """Return whether the cost is unknown or only a lower bound."""
        if facts.simulated or provider_of(facts.provider).is_free or not self.calls:
            return False
        whole = self.reported_tokens == (self.input_tokens, self.cached_tokens, self.output_tokens)
        if RoleSpending(input_tokens=1, output_tokens=1).cost_usd(facts) == 0:
            return False  # nothing has a price
        return self.uncounted > 0 or (not whole and price_of(facts, 0, 0, 0) is None)


def add_call(spending: dict[str, RoleSpending], record: Asked | Embedded) -> None:
    """Add a call to its role, unless its answer was reused from an earlier play."""
    if record.kept:
        return
    spending.setdefault(record.role, RoleSpending()).add(record)
