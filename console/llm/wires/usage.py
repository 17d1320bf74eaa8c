"""Token counts, costs and service tiers as reported by providers.

A missing, negative or absurd count makes the whole report unknown rather than zero: the cost of the run is then shown
as a lower bound.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from console.core.chat import Reply, Usage
from console.core.json_text import as_object, as_objects

_MOST_TOKENS = 1_000_000_000
_LARGEST_COST = 1e6
_DETAILS = ("prompt_tokens_details", "completion_tokens_details")
_PLAIN = frozenset({"prompt_tokens", "completion_tokens", "total_tokens", *_DETAILS})
_CACHED = (
    *("cached_tokens", "cache_read_input_tokens", "cache_read_tokens"),
    *("prompt_cache_hit_tokens", "cached_input_tokens"),
)
_WRITTEN = ("cache_write_tokens", "cache_write_input_tokens", "cache_creation_input_tokens", "cache_creation_tokens")
_READ_APART, _WRITTEN_APART = "cache_read_input_tokens", "cache_creation_input_tokens"
"""Fields of Anthropic's API, in which they are not part of `input_tokens`."""
_LIFETIMES = ("cache_creation", "cache_creation_token_details")
"""Objects with what was written to the cache by lifetime: Anthropic's, and litellm's."""
_OWN_RATES = ("audio_tokens", "image_tokens", "video_tokens", "citation_tokens")
_SEARCHES = ("server_tool_use", "server_side_tool_usage_details", "num_search_queries", "num_sources_used")
"""Fields that count uses of the provider's own tools, as a number or as an object of numbers."""
_TICKS = 1e10
"""Parts of a dollar in which xAI reports costs."""
_LONGEST_TIER = 40


class Counts(NamedTuple):
    """Token counts of a call in a provider's terms: reasoning and caches may or may not be part of the others."""

    sent: int
    output: int
    cached: int = 0
    written: int = 0
    reasoning: int = 0
    written_1h: int = 0
    unpriced: int = 0
    total: int | None = None
    """Sum reported by the provider, which shows what the other counts include."""
    cost_usd: float | None = None

    def usage(self) -> Usage:
        """Return the usage, with reasoning as part of the output and caches as part of the input."""
        sent, output, unpriced = self.sent, self.output, self.unpriced
        caches, excess = self.cached + self.written, self._excess
        if excess == self.reasoning:
            output += excess
        elif excess == caches:
            sent += excess
        elif excess == caches + self.reasoning:
            sent, output = sent + caches, output + self.reasoning
        else:  # Gemini's OpenAI-style API counts thoughts in the total alone
            output, unpriced = output + excess, unpriced + excess
        if (missing := max(0, caches - sent)) or self.reasoning > output:  # the report contradicts itself
            unpriced += missing + max(0, self.reasoning - output)
            sent, output = sent + missing, max(output, self.reasoning)
        cached = min(self.cached, sent)
        written = min(self.written, sent - cached)
        written_1h, reasoning = min(self.written_1h, written), min(self.reasoning, output)
        return Usage(sent, output, cached, reasoning, self.cost_usd, written, written_1h, unpriced)

    @property
    def _excess(self) -> int:
        """Tokens that belong to neither `sent` nor `output`."""
        if self.total is not None and self.total >= self.sent + self.output:
            return self.total - self.sent - self.output
        caches = self.cached + self.written
        return caches * (caches > self.sent) + self.reasoning * (self.reasoning > self.output)


def read_usage(value: object) -> Usage | None:
    """Return the usage in an OpenAI-style report (either API), or None if it is implausible."""
    usage = as_object(value)
    sent = _first(("prompt_tokens", "input_tokens"), usage)
    output = _first(("completion_tokens", "output_tokens"), usage)
    if output is None and "prompt_tokens" in usage and usage.keys().isdisjoint(("completion_tokens", "output_tokens")):
        output = 0
    if sent is None or output is None:
        return None
    if usage.keys() <= _PLAIN and usage.get("total_tokens") in (None, sent + output) and not _has_details(usage):
        return Usage(sent, output)  # the commonest report, in one step
    of_sent, of_output = _details(usage, "prompt", "input"), _details(usage, "completion", "output")
    lifetimes = next((fields[name] for fields in (usage, of_sent) for name in _LIFETIMES if fields.get(name)), None)
    counts = Counts(
        sent=sent,
        output=output,
        cached=max(_first(_CACHED, fields) or 0 for fields in (usage, of_sent)),
        written=max(sum_of_lifetimes(lifetimes), *(_first(_WRITTEN, fields) or 0 for fields in (usage, of_sent))),
        reasoning=_first(("reasoning_tokens",), of_output) or _first(("reasoning_tokens",), usage) or 0,
        unpriced=_sum(of_sent, _OWN_RATES) + _sum(of_output, _OWN_RATES) + _sum(usage, _SEARCHES),
        total=token_count(usage.get("total_tokens")),
        cost_usd=_cost(usage),
    )
    if counts.total is None and not of_sent and "prompt_tokens" not in usage:
        apart = max(sum_of_lifetimes(lifetimes), _sum(usage, [_WRITTEN_APART]))
        counts = counts._replace(sent=sent + apart + _sum(usage, [_READ_APART]))
    return with_lifetimes(counts, lifetimes).usage()


def larger(one: Usage | None, other: Usage | None) -> Usage | None:
    """Return the larger of two reports in one stream, each a sum up to its chunk; the second if either is None."""
    if one is None or other is None:
        return other
    return max(other, one, key=lambda usage: (usage.input + usage.output, usage.cost_usd or 0.0))


def credible_usage(reply: Reply) -> Usage | None:
    """Return a reply's usage, or None if it counts nothing for the prompt, or for an answer that is not empty."""
    usage, says_something = reply.usage, bool(reply.content or reply.reasoning or reply.tool_calls)
    if usage is None or usage.cost_usd is not None or (usage.input and (usage.output or not says_something)):
        return usage
    return None


def with_lifetimes(counts: Counts, value: object) -> Counts:
    """Return counts with the lifetimes of what was written to the cache, as in Anthropic's `cache_creation`."""
    parts = as_object(value)
    if not parts or not counts.written:
        return counts
    unknown = max(0, counts.written - sum_of_lifetimes(value))
    of_hour = token_count(parts.get("ephemeral_1h_input_tokens")) or 0
    return counts._replace(written_1h=of_hour, unpriced=counts.unpriced + unknown)


def sum_of_lifetimes(value: object) -> int:
    """Return the tokens written to the cache for lifetimes that have a price."""
    return _sum(as_object(value), [f"ephemeral_{name}_input_tokens" for name in ("5m", "30m", "1h")])


def tier_of(*values: object) -> str:
    """Return the first service tier among values of a reply; empty if there is none."""
    names = (as_object(value).get("type", value) for value in values)
    return next((name.strip().lower()[:_LONGEST_TIER] for name in names if isinstance(name, str) and name), "")


def media_tokens(details: object) -> int:
    """Return the tokens that are not text in a list of Gemini's counts by modality."""
    others = (part for part in as_objects(details) if part.get("modality") not in ("TEXT", "DOCUMENT", None))
    return sum(token_count(part.get("tokenCount")) or 0 for part in others)


def token_count(value: object) -> int | None:
    """Return a token count, or None if it is implausible."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MOST_TOKENS else None


def uses_of(value: object) -> int:
    """Return a number of uses, or the sum of an object of such numbers."""
    inner = as_object(value)
    return sum(token_count(part) or 0 for part in inner.values()) if inner else token_count(value) or 0


def _first(names: Iterable[str], fields: Mapping[str, Any]) -> int | None:
    """Return the first of these counts that is given, or None if it is implausible."""
    for name in names:
        if (value := fields.get(name)) is not None:
            return token_count(value)
    return None


def _has_details(usage: Mapping[str, Any]) -> bool:
    return any((details := usage.get(name)) and any(as_object(details).values()) for name in _DETAILS)


def _details(usage: Mapping[str, Any], *sides: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for side in sides:
        found |= as_object(usage.get(f"{side}_tokens_details")) | as_object(usage.get(f"{side}_token_details"))
    return found


def _sum(fields: Mapping[str, Any], names: Iterable[str]) -> int:
    if fields.keys().isdisjoint(names):
        return 0
    return sum(uses_of(fields.get(name)) for name in names)


def _cost(usage: Mapping[str, Any]) -> float | None:
    """Return the cost that a provider reports, in one of its formats."""
    value = usage.get("cost")
    cost = _amount(as_object(value).get("total_cost", value))
    if cost is None and (ticks := _amount(usage.get("cost_in_usd_ticks"), _TICKS)) is not None:
        return ticks
    if cost is not None and usage.get("is_byok") is True:  # the provider behind the gateway charges by itself
        own = _amount(as_object(usage.get("cost_details")).get("upstream_inference_cost"))
        return None if own is None else cost + own
    return cost


def _amount(value: object, parts: float = 1.0) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value / parts if math.isfinite(value) and 0 <= value / parts < _LARGEST_COST else None
