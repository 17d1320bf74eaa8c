"""What one case is expected to cost before it is played. Pure arithmetic over the texts and typical lengths."""

import msgspec

from console.suites.dialogue.script import Script
from console.suites.suite import Estimate

_CHARACTERS_A_TOKEN = 4.0
_ANSWER_TOKENS = 120.0


def estimate(script: Script) -> Estimate:
    """Return the expected calls and tokens of a case."""
    start = _tokens(script.system) + sum(_tokens(message.get("content") or "") for message in script.messages)
    start += len(msgspec.json.encode(script.tools)) / _CHARACTERS_A_TOKEN if script.tools else 0.0
    calls = sent = 0.0
    for turn in script.turns:
        start += _tokens(turn.user)
        calls, sent, start = calls + 1, sent + start, start + _ANSWER_TOKENS
    return Estimate(calls, sent, calls * _ANSWER_TOKENS)


def _tokens(text: str) -> float:
    return len(text) / _CHARACTERS_A_TOKEN
