"""Token counts as a provider reports them, believed only as far as they can be true.

A missing, negative or absurd count makes the whole report unknown, because unknown is not zero: the cost of a run is
then shown as a lower bound.
"""

import math
from typing import Any, cast

from console.core.chat import Usage

_MOST_TOKENS = 1_000_000_000


def read_usage(value: object) -> Usage | None:
    """Return the usage of an answer, or None when it is not a credible report."""
    if not isinstance(value, dict):
        return None
    fields = cast(dict[str, Any], value)
    sent = token_count(fields.get("prompt_tokens", fields.get("input_tokens")))
    written = token_count(fields.get("completion_tokens", fields.get("output_tokens", 0)))
    if sent is None or written is None:
        return None
    cached = (
        _detail(fields, "prompt_tokens_details", "cached_tokens")
        or token_count(fields.get("prompt_cache_hit_tokens"))
        or 0
    )
    reasoning = _detail(fields, "completion_tokens_details", "reasoning_tokens") or 0
    return Usage(sent, written, min(cached, sent), reasoning, _cost(fields.get("cost")))


def _detail(fields: dict[str, Any], group: str, name: str) -> int | None:
    inner = fields.get(group)
    return token_count(cast(dict[str, Any], inner).get(name)) if isinstance(inner, dict) else None


def token_count(value: object) -> int | None:
    """Return a number of tokens; None when it cannot be one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _MOST_TOKENS else None


def _cost(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value < 1e6 else None
