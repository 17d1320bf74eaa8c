"""Cost estimate of one entry, from the texts that will be sent."""

import json
from collections.abc import Sequence
from typing import Any

from console.core.chat import Message
from console.suites.suite import Estimate

_CHARACTERS_A_TOKEN = 4.0
_CALL_TOKENS = 60.0
"""Typical length of an answer with calls."""
_STEPS_A_TURN = 3.0
"""Typical replies per user message with simulators."""
_STEP_TOKENS = 120.0
"""Typical growth of a conversation per step."""
_BASIS = f"from the texts of the cases, at {_CALL_TOKENS:.0f} tokens a reply"


def estimate_single(messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> Estimate:
    """Estimate one question."""
    return Estimate(1.0, _tokens(messages, tools), _CALL_TOKENS, basis=_BASIS)


def estimate_turns(messages: Sequence[Message], tools: Sequence[dict[str, Any]], turns: int) -> Estimate:
    """Estimate a conversation, in which every step resends the history."""
    steps = turns * _STEPS_A_TURN
    start = _tokens(messages, tools)
    sent = steps * (start + _STEP_TOKENS * (steps - 1) / 2)
    return Estimate(
        steps, sent, steps * _CALL_TOKENS, basis=f"{_BASIS}, {_STEPS_A_TURN:.0f} replies a turn with simulators"
    )


def _tokens(messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> float:
    text = sum(len(message.get("content") or "") for message in messages)
    return (text + (len(json.dumps(list(tools))) if tools else 0)) / _CHARACTERS_A_TOKEN
