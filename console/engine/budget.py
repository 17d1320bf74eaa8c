"""Run-wide caps. The highest cost of a call is reserved before the call, so that calls in flight fit together.

A call that fits only after others release their reservations waits for them; the run stops if it would not fit even
then. Reservations learn: none is lower than the dearest call of its role so far. If nothing limits the replies of a
role, only a few are in flight at first, since each may be dearer than any before: `core.overspend` says in words by how
much a cap can be exceeded. Replies without a usage report are estimated from their length, and calls that were cut off
count as if they had been charged.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from console.core.case import Key
from console.core.chat import SENT_TWICE, ChatRequest, Reply, Usage
from console.core.overspend import most_unlimited
from console.core.price import UNKNOWN, Cost, cost_of_usage, dollars, most_of_call, most_of_usage
from console.core.provider import provider_of
from console.core.record import Asked, Embedded, Tried
from console.core.request import asked_tier, cache_lifetime, reply_limit
from console.core.run import Budget, ModelFacts

CHARS_PER_TOKEN = 3.0
"""Assumed characters per token, below the average so that prompt estimates err on the high side."""
OUTPUT_TOKENS = 4096
"""Assumed length of the longest reply if neither models.toml nor the request limits it."""
_FEWEST_FREE = 3
"""Replies of a model without a price after which its calls count as free, if none of them had a cost."""


class BudgetReached(Exception):
    """A cap is reached; the run stops and can be resumed with a higher one."""


class WorstCase(NamedTuple):
    """Highest expected cost of a call."""

    usd: float
    tokens: int
    """Input plus output."""
    is_limited: bool = True
    """False if nothing limits the reply, so that the call may cost more."""
    role: str = "model"


@dataclass(slots=True)
class _RoleCosts:
    """The calls of one role so far."""

    most_usd: float = 0.0
    most_tokens: int = 0
    replies: int = 0
    unlimited: int = 0
    """Calls in flight that may cost more than was reserved."""
    is_reported: bool = False
    """True if the provider reports costs, even if they are zero."""
    is_surprising: bool = False
    """True if a call cost more than its limits allow."""


@dataclass(slots=True)
class BudgetMeter:
    """Money, tokens and errors that a run has spent and reserved."""

    budget: Budget
    concurrency: int = 8
    cost_usd: float = 0.0
    tokens: int = 0
    cut_usd: float = 0.0
    """Highest cost of calls that were cut off, which the provider may have charged."""
    cancelled_usd: float = 0.0
    """The part of it that failed tries in the journal do not show."""
    errors: int = 0
    opened: float = field(default_factory=time.monotonic)
    _roles: dict[str, _RoleCosts] = field(default_factory=lambda: defaultdict(_RoleCosts))
    _reserved: dict[tuple[Key, int], WorstCase] = field(default_factory=dict[tuple[Key, int], WorstCase])
    _release: asyncio.Event = field(default_factory=asyncio.Event)
    _sent_lengths: dict[Key, dict[str, int]] = field(default_factory=dict[Key, dict[str, int]])
    """Characters sent to each role in conversations whose replies come without a usage report."""

    @property
    def is_capped(self) -> bool:
        """True if calls need reservations."""
        return self.budget.cost_usd is not None or self.budget.tokens is not None

    def reserve(
        self, holder: tuple[Key, int], cost: float, tokens: int, is_limited: bool = True, role: str = "model"
    ) -> bool:
        """Reserve the highest cost of a call; return False if it may fit after calls in flight have ended.

        Args:
            holder: conversation and number of the call.
            cost: USD, as from `worst_case`.
            tokens: input plus output.
            is_limited: False if the reply may be longer than expected.
            role: role of the model.

        Raises:
            BudgetReached: the call does not fit; the message names the cap.
        """
        costs = self._roles[role]
        cost, tokens = max(cost, costs.most_usd), max(tokens, costs.most_tokens)
        self.check(cost, tokens)
        is_free = not cost and costs.replies >= _FEWEST_FREE and not costs.is_reported
        if is_free and self.budget.tokens is None:
            is_limited = True
        is_limited = not self.is_capped or (is_limited and not costs.is_surprising)
        if not self._fits(cost, tokens):
            return False
        if not is_limited and costs.unlimited >= most_unlimited(costs.replies, self.concurrency):
            return False
        self._reserved[holder] = WorstCase(cost, tokens, is_limited, role)
        costs.unlimited += not is_limited
        return True

    def _fits(self, cost: float, tokens: int) -> bool:
        """Return whether this amount fits in addition to the reservations, which are summed only under a cap."""
        caps, reserved = self.budget, self._reserved.values()
        if caps.cost_usd is not None and self._spent_usd + cost + sum(call.usd for call in reserved) > caps.cost_usd:
            return False
        return caps.tokens is None or self.tokens + tokens + sum(call.tokens for call in reserved) <= caps.tokens

    @property
    def _spent_usd(self) -> float:
        return self.cost_usd + self.cut_usd

    @property
    def is_out_of_time(self) -> bool:
        return self.budget.seconds is not None and time.monotonic() - self.opened > self.budget.seconds

    def check(self, cost: float = 0.0, tokens: int = 0) -> None:
        """Raise BudgetReached if the caps do not allow this much more."""
        caps = self.budget
        if caps.cost_usd is not None and self._spent_usd + cost > caps.cost_usd:
            more = f", the next call may cost {dollars(cost)}" if cost else ""
            raise BudgetReached(f"{self._spent_words(caps.cost_usd)}{more}")
        if caps.tokens is not None and self.tokens + tokens > caps.tokens:
            more = f", the next call may take {tokens}" if tokens else ""
            raise BudgetReached(f"{self.tokens} tokens used of at most {caps.tokens}{more}")
        if caps.errors is not None and self.errors > caps.errors:
            raise BudgetReached(f"{self.errors} broken cases, at most {caps.errors} allowed")
        if self.is_out_of_time:
            raise BudgetReached(f"the time limit of {caps.seconds:g} s is reached")

    def _spent_words(self, most_usd: float) -> str:
        cut = f" and up to {dollars(self.cut_usd)} on calls that were cut off," if self.cut_usd else ""
        return f"{dollars(self.cost_usd)} spent{cut} of at most {dollars(most_usd)}"

    def check_retry(self) -> None:
        """Raise BudgetReached if what was cut off and what is reserved exceed the cap together."""
        most, reserved = self.budget.cost_usd, sum(call.usd for call in self._reserved.values())
        if self.cut_usd and most is not None and self._spent_usd + reserved > most:
            raise BudgetReached(f"{self._spent_words(most)}, the calls in flight may cost {dollars(reserved)}")

    async def wait_for_release(self) -> None:
        self._release.clear()
        await self._release.wait()

    def holds(self, key: Key) -> bool:
        """Return whether a conversation has a call in flight."""
        return any(holder[0] == key for holder in self._reserved)

    def release(self, holder: tuple[Key, int], *, is_cut: bool = False) -> None:
        """Release a reservation; a call that was cut off counts as charged."""
        if (call := self._reserved.pop(holder, None)) is not None:
            self._roles[call.role].unlimited -= not call.is_limited
            if is_cut:
                self.cut_usd += call.usd
                self.cancelled_usd += call.usd
        self._release.set()

    def end_conversation(self, key: Key) -> None:
        """Discard the state of a finished conversation."""
        self._sent_lengths.pop(key, None)

    def add_call(self, record: Asked | Embedded, facts: ModelFacts) -> None:
        """Count a journaled call and release its reservation; a missing usage report is estimated from length."""
        holder = (record.key, record.n)
        if record.kept:
            return
        if isinstance(record, Embedded):
            usd, tokens = _counted_embedding(record, facts)
            is_twice = record.sent_twice
        else:
            reply = record.reply
            if reply.usage is None and not reply.simulated:
                reply = msgspec.structs.replace(reply, usage=self._estimate_usage(record))
            is_priced = record.cost_usd is not None and not record.cost_at_least and reply.usage is not None
            usd, tokens = (record.cost_usd or 0.0, _tokens(reply)) if is_priced else _counted(reply, facts)
            is_twice = SENT_TWICE in reply.flags
            self._roles[record.role].is_reported |= reply.usage is not None and reply.usage.cost_usd is not None
        self._count(usd, tokens)
        if is_twice:
            self.cut_usd += usd
            usd, tokens = 2 * usd, 2 * tokens
        self._learn(self._roles[record.role], self._reserved.get(holder), usd, tokens)
        self.release(holder)

    def _learn(self, costs: _RoleCosts, reserved: WorstCase | None, usd: float, tokens: int) -> None:
        costs.replies += 1
        costs.most_usd, costs.most_tokens = max(costs.most_usd, usd), max(costs.most_tokens, tokens)
        if reserved is not None and self.is_capped:
            costs.is_surprising |= usd > reserved.usd * (1 + 1e-9) or tokens > reserved.tokens

    def _estimate_usage(self, record: Asked) -> Usage:
        reply, lengths = record.reply, self._sent_lengths.setdefault(record.key, {})
        before = lengths.get(record.role, 0) if record.prefix else 0
        sent = lengths[record.role] = before + sum(len(str(message)) for message in record.messages)
        written = len(reply.content or "") + len(reply.reasoning) + sum(len(str(call)) for call in reply.tool_calls)
        return Usage(int(sent / CHARS_PER_TOKEN) + 1, int(written / CHARS_PER_TOKEN) + 1)

    def add_try(self, record: Tried, facts: ModelFacts) -> None:
        """Count a failed try as charged if it may have been answered."""
        if record.possible_charges:
            usd = record.cut_usd or record.possible_charges * self._usual(record.role, facts)
            self.cut_usd += usd

    def with_cut_cost(self, record: Tried) -> Tried:
        """Return a failed try with the highest cost that it may have had: what is reserved for it."""
        reserved = self._reserved.get((record.key, record.n))
        usd = 0.0 if reserved is None else reserved.usd * record.possible_charges
        return msgspec.structs.replace(record, cut_usd=usd) if usd else record

    def add_lost(self, calls: int, roles: Mapping[str, ModelFacts]) -> None:
        """Count calls that were in flight when an earlier session was killed; nobody knows of which roles."""
        usual = {role: self._usual(role, facts) for role, facts in roles.items()}
        for role in sorted(roles, key=usual.__getitem__, reverse=True):
            costs, most = self._roles[role], calls
            if costs.is_surprising or not worst_case(ChatRequest([]), roles[role]).is_limited:
                most = min(calls, most_unlimited(costs.replies, self.concurrency))
            self.cut_usd += most * usual[role]
            calls -= most

    def _usual(self, role: str, facts: ModelFacts) -> float:
        """Return the highest cost of a call of unknown length."""
        return max(self._roles[role].most_usd, worst_case(ChatRequest([]), facts).usd)

    def add_reply(self, reply: Reply, facts: ModelFacts) -> None:
        self._count(*_counted(reply, facts))

    def _count(self, usd: float, tokens: int) -> None:
        self.cost_usd += usd
        self.tokens += tokens


def worst_case(request: ChatRequest, facts: ModelFacts, role: str = "model") -> WorstCase:
    """Return the highest cost that can be expected of a call."""
    characters = sum(_size(str(message)) for message in request.messages) + sum(
        _size(str(tool)) for tool in request.tools
    )
    params = facts.params | request.params
    limit, sent = reply_limit(params), int(characters / CHARS_PER_TOKEN)
    output = limit or OUTPUT_TOKENS
    if facts.simulated or provider_of(facts.provider).is_free:
        return WorstCase(0.0, sent + output, True, role)
    usd = most_of_call(
        facts.price, sent, output, longest=characters, tier=asked_tier(params), caches=cache_lifetime(params)
    )
    is_limited = facts.batched != "" or (limit is not None and facts.price.input is not None)
    return WorstCase(usd, sent + output, is_limited, role)


def _size(text: str) -> int:
    """Return the length of a text, in bytes if it has letters that can take several tokens."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _counted(reply: Reply, facts: ModelFacts) -> tuple[float, int]:
    """Return the cost of a reply as it counts towards a cap, at most that of any tier, and its tokens."""
    usage = reply.usage
    if usage is None or reply.simulated or facts.simulated:
        return 0.0, _tokens(reply)
    cost = _cost(reply, facts)
    return cost.usd if cost.is_exact else max(cost.usd, most_of_usage(facts.price, usage)), _tokens(reply)


def _counted_embedding(record: Embedded, facts: ModelFacts) -> tuple[float, int]:
    """Return cost and tokens of an embedding call, estimated from its length if there is no usage report."""
    tokens = record.tokens
    if tokens is None:
        tokens = int(sum(map(len, record.texts)) / CHARS_PER_TOKEN) + 1
    if facts.simulated or provider_of(facts.provider).is_free:
        return 0.0, record.tokens or 0
    return most_of_usage(facts.price, Usage(tokens)), tokens


def _tokens(reply: Reply) -> int:
    return 0 if reply.usage is None else reply.usage.input + reply.usage.output


def cost_of(reply: Reply, facts: ModelFacts) -> float | None:
    """Return a reply's cost in USD: the provider's figure, else by price, else None if part of it is unknown."""
    return _cost(reply, facts).exact_usd


def _cost(reply: Reply, facts: ModelFacts) -> Cost:
    usage = reply.usage
    if reply.simulated or facts.simulated:
        return Cost(0.0, is_exact=True)
    if usage is None:
        return UNKNOWN
    return cost_of_usage(facts.price, usage, reply.tier or asked_tier(facts.params))


def cost_of_embedding(record: Embedded, facts: ModelFacts) -> float | None:
    """Return the cost of an embedding call in USD by list price, or None if unknown."""
    if facts.simulated or provider_of(facts.provider).is_free:
        return 0.0
    return None if record.tokens is None else cost_of_usage(facts.price, Usage(record.tokens)).exact_usd


def with_cost(record: Asked, facts: ModelFacts) -> Asked:
    """Return the record of a call with its cost, if it costs anything."""
    usage = record.reply.usage
    if record.kept or usage is None or facts.simulated or record.reply.simulated:
        return record
    if facts.price.input is None and usage.cost_usd is None:
        return record
    cost = _cost(record.reply, facts)
    return msgspec.structs.replace(record, cost_usd=cost.usd, cost_at_least=not cost.is_exact)
