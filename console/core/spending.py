"""Tokens and money used so far by role, updated with every call and not only at the end of a conversation."""

import msgspec

from console.core.chat import SENT_TWICE, Usage
from console.core.price import UNKNOWN, cost_of_usage
from console.core.provider import provider_of
from console.core.record import Asked, Embedded, Tried
from console.core.run import ModelFacts


class RoleSpending(msgspec.Struct):
    """Sums over the calls of one role, including interrupted and superseded conversations."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    known_usd: float = 0.0
    """Cost of the calls with a known cost; their tokens are not priced again."""
    known_tokens: tuple[int, int, int] = (0, 0, 0)
    """Input, cached and output tokens of those calls."""
    uncounted: int = 0
    """Calls whose cost is a lower bound, that have no token count, or that may have been charged without an answer."""

    def add(self, record: Asked | Embedded | Tried) -> None:
        """Add one finished call, or a failed try of one."""
        if isinstance(record, Tried):
            self.uncounted += record.possible_charges
            return
        self.calls += 1
        if isinstance(record, Embedded):
            self.input_tokens += record.tokens or 0
            self.uncounted += record.tokens is None or record.sent_twice
            return
        usage = record.reply.usage
        self.uncounted += SENT_TWICE in record.reply.flags
        if usage is None:
            self.uncounted += 1
            return
        self.input_tokens += usage.input
        self.output_tokens += usage.output
        self.cached_tokens += usage.cached
        cost = usage.cost_usd if record.cost_usd is None else record.cost_usd
        if cost is not None:
            sent, cached, written = self.known_tokens
            self.known_usd += cost
            self.known_tokens = sent + usage.input, cached + usage.cached, written + usage.output
            self.uncounted += record.cost_at_least

    def cost_usd(self, facts: ModelFacts) -> float | None:
        """Return the known cost, or None if unknown. A lower bound if some calls are `uncounted`."""
        if facts.simulated or provider_of(facts.provider).is_free:
            return 0.0
        sent, cached, written = self.known_tokens
        rest = Usage(self.input_tokens - sent, self.output_tokens - written, self.cached_tokens - cached)
        if rest == Usage():
            return self.known_usd if any(self.known_tokens) else None
        # No long prompts: journals without the cost of each call have no such rates.
        price = cost_of_usage(facts.price, rest, prompt=0)
        if price == UNKNOWN:
            return self.known_usd if any(self.known_tokens) else None
        return self.known_usd + price.usd

    def is_partial(self, facts: ModelFacts) -> bool:
        """Return whether the cost is unknown or only a lower bound."""
        if facts.simulated or provider_of(facts.provider).is_free or not (self.calls or self.uncounted):
            return False
        if facts.price.input == 0 == facts.price.output:
            return False
        whole = self.known_tokens == (self.input_tokens, self.cached_tokens, self.output_tokens)
        return self.uncounted > 0 or (not whole and facts.price.input is None)


def add_call(spending: dict[str, RoleSpending], record: Asked | Embedded | Tried) -> None:
    """Add a call or a failed try to its role, unless its answer was reused from an earlier play."""
    if not isinstance(record, Tried) and record.kept:
        return
    spending.setdefault(record.role, RoleSpending()).add(record)
