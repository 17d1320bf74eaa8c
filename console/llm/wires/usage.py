"""Token counts as reported by providers.

A missing, negative or absurd count makes the whole report unknown rather than zero: the cost of the run is then shown
as a lower bound.
"""

import math

from console.core.chat import Usage
from console.core.json_text import as_object

_MOST_TOKENS = 1_000_000_000


def read_usage(value: object) -> Usage | None:
    """Return the usage in an OpenAI-style report (either API), or None if it is implausible."""
    usage = as_object(value)
    sent = token_count(usage.get("prompt_tokens", usage.get("input_tokens")))
    default = 0 if "prompt_tokens" in usage else None
    written = token_count(usage.get("completion_tokens", usage.get("output_tokens", default)))
    if sent is None or written is None:
        return None
    sent_details = as_object(usage.get("prompt_tokens_details", usage.get("input_tokens_details")))
    written_details = as_object(usage.get("completion_tokens_details", usage.get("output_tokens_details")))
    cached = token_count(sent_details.get("cached_tokens")) or token_count(usage.get("prompt_cache_hit_tokens")) or 0
    reasoning = token_count(written_details.get("reasoning_tokens")) or 0
    return Usage(sent, written, min(cached, sent), reasoning, _cost(usage.get("cost")))


def token_count(value: object) -> int | None:
    """Return a token count, or None if it is implausible."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MOST_TOKENS else None


def _cost(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value < 1e6 else None
