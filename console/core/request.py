"""Identity and compact storage of model calls.

The digest identifies a request: a resumed conversation gets a journaled reply only for an equal request. Growing chats
are stored as differences, because n steps would otherwise take n² space.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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
