"""Identity, compact storage and settings of model calls.

The digest identifies a request: a resumed conversation gets a journaled reply only for an equal request. Growing chats
are stored as differences, because n steps would otherwise take n² space.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from console.core.record import Asked

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=repr).encode


def digest(kind: str, role: str, request: object) -> str:
    """Return the first 24 hex digits of the sha256 of a request's canonical JSON form."""
    return hashlib.sha256(_canonical([kind, role, request]).encode("ascii")).hexdigest()[:24]


@dataclass(slots=True)
class Thread:
    """The last request of one role in one conversation, the base for storing the next one."""

    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def shared(self, messages: Sequence[dict[str, Any]]) -> int:
        """Return the number of leading messages shared with another request."""
        count = 0
        for left, right in zip(self.messages, messages, strict=False):
            if left != right:
                break
            count += 1
        return count

    def condense(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
    ) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]] | None]:
        """Return prefix length, the messages after it, and the tools (None if unchanged), and keep the request."""
        prefix = self.shared(messages)
        changed = list(tools) if list(tools) != self.tools else None
        self.messages, self.tools = list(messages), list(tools)
        return prefix, self.messages[prefix:], changed

    def expand(self, asked: Asked) -> "Thread":
        """Apply a stored call and return the whole request."""
        messages = self.messages[: asked.prefix] + asked.messages
        tools = self.tools if asked.tools is None else asked.tools
        self.messages, self.tools = messages, tools
        return Thread(list(messages), list(tools))


_LIMITS = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "maxOutputTokens", "maxTokens"),
    *("num_predict", "n_predict"),
)
"""Names of the limit of a reply."""
_INNER = ("options", "generationConfig", "generation_config", "inferenceConfig", "extra_body")
"""Objects of a request that contain such parameters."""


def asked_tier(params: Mapping[str, Any]) -> str:
    """Return the service tier that a request asks for; empty if it names none."""
    tier = params.get("service_tier", params.get("serviceTier"))
    tier = cast("dict[str, Any]", tier).get("type") if isinstance(tier, dict) else tier
    return tier.lower() if isinstance(tier, str) else ""


def cache_lifetime(params: Mapping[str, object]) -> str:
    """Return how long parameters have the prompt cached: `1h`, `minutes`, or nothing."""
    caches = {name: value for name, value in params.items() if "cache" in name}
    return "1h" if "1h" in str(caches) else "minutes" if caches else ""


def reply_limit(params: Mapping[str, Any]) -> int | None:
    """Return the maximum number of tokens of a reply, over all requested choices; None if there is no limit."""
    omitted = params.get("omit", ())
    limits = [params[name] for name in _LIMITS if name in params and name not in omitted]
    for inner in (params.get(name) for name in _INNER):
        limits += [inner[name] for name in _LIMITS if name in inner] if isinstance(inner, dict) else []
    whole = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    choices = params.get("n", 1)
    return max(whole) * max(choices if isinstance(choices, int) else 1, 1) if whole else None
