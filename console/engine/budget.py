"""Run-wide caps. A call's worst case is reserved before the call, so that concurrent calls cannot overshoot together.

A call whose worst case fits only after others release theirs waits for them; the run stops if it would not fit even
then. Replies without a usage report are estimated from their length, so that caps apply to such providers too.
"""

import asyncio
import time
from dataclasses import dataclass, field

import msgspec

from console.core.case import Key
from console.core.chat import ChatRequest, Reply, Usage
from console.core.price import dollars, price_of
from console.core.provider import provider_of
from console.core.record import Asked, Embedded
from console.core.run import Budget, ModelFacts

CHARS_PER_TOKEN = 3.0
"""Assumed characters per token, below the average so that prompt estimates err on the high side."""
OUTPUT_TOKENS = 4096
"""Assumed length of the longest reply if neither models.toml nor the request limits it."""


class BudgetReached(Exception):
    """A cap is reached; the run stops and can be resumed with a higher one."""


@dataclass(slots=True)
class BudgetMeter:
    """Money, tokens and errors that a run has spent and reserved."""

    budget: Budget
    cost_usd: float = 0.0
    tokens: int = 0
    errors: int = 0
    opened: float = field(default_factory=time.monotonic)
    _reserved: dict[tuple[Key, int], tuple[float, int]] = field(
        default_factory=dict[tuple[Key, int], tuple[float, int]]
    )
    _release: asyncio.Event = field(default_factory=asyncio.Event)
    _sent_lengths: dict[Key, dict[str, int]] = field(default_factory=dict[Key, dict[str, int]])
    """Characters sent to each role in conversations whose replies come without a usage report."""

    def reserve(self, holder: tuple[Key, int], cost: float, tokens: int) -> bool:
        """Reserve the worst case of a call; return False if it may fit after calls in flight have ended.

        Args:
            holder: conversation and number of the call.
            cost: USD, as from `worst_case`.
            tokens: input plus output.

        Raises:
            BudgetReached: the call does not fit; the message names the cap.
        """
        self.check(cost, tokens)
        if not self._fits(cost, tokens):
            return False
        self._reserved[holder] = (cost, tokens)
        return True

    def _fits(self, cost: float, tokens: int) -> bool:
        """Return whether this amount fits in addition to the reservations, which are summed only under a cap."""
        caps, reserved = self.budget, self._reserved.values()
        if caps.cost_usd is not None and self.cost_usd + cost + sum(usd for usd, _ in reserved) > caps.cost_usd:
            return False
        return caps.tokens is None or self.tokens + tokens + sum(count for _, count in reserved) <= caps.tokens

    @property
    def is_out_of_time(self) -> bool:
        return self.budget.seconds is not None and time.monotonic() - self.opened > self.budget.seconds

    def check(self, cost: float = 0.0, tokens: int = 0) -> None:
        """Raise BudgetReached if the caps do not allow this much more."""
        caps = self.budget
        if caps.cost_usd is not None and self.cost_usd + cost > caps.cost_usd:
            more = f", the next call may cost {dollars(cost)}" if cost else ""
            raise BudgetReached(f"{dollars(self.cost_usd)} spent of at most {dollars(caps.cost_usd)}{more}")
        if caps.tokens is not None and self.tokens + tokens > caps.tokens:
            more = f", the next call may take {tokens}" if tokens else ""
            raise BudgetReached(f"{self.tokens} tokens used of at most {caps.tokens}{more}")
        if caps.errors is not None and self.errors > caps.errors:
            raise BudgetReached(f"{self.errors} broken cases, at most {caps.errors} allowed")
        if self.is_out_of_time:
            raise BudgetReached(f"the time limit of {caps.seconds:g} s is reached")

    async def wait_for_release(self) -> None:
        self._release.clear()
        await self._release.wait()

    def holds(self, key: Key) -> bool:
        """Return whether a conversation has a call in flight."""
        return any(holder[0] == key for holder in self._reserved)

    def release(self, holder: tuple[Key, int]) -> None:
        self._reserved.pop(holder, None)
        self._release.set()

    def end_conversation(self, key: Key) -> None:
        """Discard the state of a finished conversation."""
        self._sent_lengths.pop(key, None)

    def add_call(self, record: Asked | Embedded, facts: ModelFacts) -> None:
        """Count a journaled call unless its reply was reused; a missing usage report is estimated from length."""
        if record.kept:
            return
        if isinstance(record, Embedded):
            self.cost_usd += cost_of_embedding(record, facts) or 0.0
            self.tokens += record.tokens or 0
            return
        reply = record.reply
        if reply.usage is None and not reply.simulated:
            reply = msgspec.structs.replace(reply, usage=self._estimate_usage(record))
        self.add_reply(reply, facts)

    def _estimate_usage(self, record: Asked) -> Usage:
        reply, lengths = record.reply, self._sent_lengths.setdefault(record.key, {})
        before = lengths.get(record.role, 0) if record.prefix else 0
        sent = lengths[record.role] = before + sum(len(str(message)) for message in record.messages)
        written = len(reply.content or "") + len(reply.reasoning) + sum(len(str(call)) for call in reply.tool_calls)
        return Usage(int(sent / CHARS_PER_TOKEN) + 1, int(written / CHARS_PER_TOKEN) + 1)

    def add_reply(self, reply: Reply, facts: ModelFacts) -> None:
        self.cost_usd += cost_of(reply, facts) or 0.0
        if reply.usage is not None:
            self.tokens += reply.usage.input + reply.usage.output


def worst_case(request: ChatRequest, facts: ModelFacts) -> tuple[float, int]:
    """Return the maximum cost of a call, in USD and in tokens (input plus output)."""
    sent = sum(len(str(message)) for message in request.messages) + sum(len(str(tool)) for tool in request.tools)
    limit = int(request.params.get("max_tokens") or facts.params.get("max_tokens") or OUTPUT_TOKENS)
    asked = int(sent / CHARS_PER_TOKEN)
    return (asked * (facts.price_in or 0.0) + limit * (facts.price_out or 0.0)) / 1e6, asked + limit


def cost_of(reply: Reply, facts: ModelFacts) -> float | None:
    """Return a reply's cost in USD: the provider's figure, else by list price, else None if unknown."""
    usage = reply.usage
    if reply.simulated or facts.simulated:
        return 0.0
    if usage is None:
        return None
    if usage.cost_usd is not None:
        return usage.cost_usd
    return price_of(facts, usage.input, usage.cached, usage.output)


def cost_of_embedding(record: Embedded, facts: ModelFacts) -> float | None:
    """Return the cost of an embedding call in USD by list price, or None if unknown."""
    if facts.simulated or provider_of(facts.provider).is_free:
        return 0.0
    return None if record.tokens is None else price_of(facts, record.tokens, 0, 0)
