"""Cost estimate of one case from its texts and typical lengths. Pure."""

import msgspec

from console.benchmarks.dialogue.options import DialogueOptions
from console.benchmarks.dialogue.rules.checks import judged_in, own_rubric, read_checks
from console.benchmarks.dialogue.rules.script import Script, expectations
from console.core.media import content_text
from console.suites.judging.rubric import Rubric, calls_of
from console.suites.suite import Estimate

_CHARACTERS_A_TOKEN = 4.0
_ANSWER_TOKENS = 120.0
_JUDGE_TOKENS = 200.0
"""Length of the judge's instructions."""
_USER_TOKENS = 60.0
"""Length of a simulated user's message, and of its instructions."""
_USUAL_TURNS = 4
"""Typical turns of a simulated user."""


def estimate(script: Script, options: DialogueOptions) -> Estimate:
    """Estimate the calls and tokens of a case, for the model and the other roles."""
    tokens = _tokens(script.system) + sum(_tokens(content_text(message.get("content"))) for message in script.messages)
    tokens += len(msgspec.json.encode(script.tools)) / _CHARACTERS_A_TOKEN if script.tools else 0.0
    calls = sent = 0.0
    for user in _user_texts(script):
        tokens += _tokens(user)
        for _ in range(2 if script.tool_results else 1):
            calls, sent, tokens = calls + 1, sent + tokens, tokens + _ANSWER_TOKENS
    roles: dict[str, Estimate] = {}
    judged = judged_in(read_checks(expectations(script)))
    judgements = sum(calls_of(own_rubric(check) or script.rubric or Rubric()) for check in judged)
    if judgements:
        roles["judge"] = _judging(judgements * options.judge_repeats, tokens)
        if options.has_second_judge:
            roles["second_judge"] = _judging(judgements, tokens)
    if script.user is not None:
        turns = len(_user_texts(script))
        roles["user"] = Estimate(turns + 1, sent / 2 + turns * _USER_TOKENS, turns * _USER_TOKENS)
    basis = f"from the texts of the cases, at {_ANSWER_TOKENS:.0f} tokens a reply"
    return Estimate(calls, sent, calls * _ANSWER_TOKENS, roles, basis=basis)


def _judging(judgements: int, tokens: float) -> Estimate:
    return Estimate(judgements, judgements * (tokens + _JUDGE_TOKENS), judgements * _ANSWER_TOKENS)


def _user_texts(script: Script) -> list[str]:
    """Return the user message of each turn; for a simulated user, its goal for each expected turn."""
    if script.user is None:
        return [turn.user for turn in script.turns]
    return [script.user.goal] * min(script.user.max_turns, _USUAL_TURNS)


def _tokens(text: str) -> float:
    return len(text) / _CHARACTERS_A_TOKEN
